# A hub for a small team: sign in with API tokens, nothing replicated. Without a domain it has Cloud Run's own
# address, and links are on the same host name as the API.

terraform {
  required_version = ">= 1.11"
}

variable "project" {
  description = "Google Cloud project."
  type        = string
}

variable "region" {
  description = "Region of everything."
  type        = string
  default     = "europe-west4"
}

variable "domain" {
  description = "Host name of the hub; share links get `links.` before it. Null: none."
  type        = string
  default     = null
}

provider "google" {
  project = var.project
  region  = var.region
}

provider "google-beta" {
  project = var.project
  region  = var.region
}

module "xprof_hub" {
  source = "../.."

  project_id     = var.project
  region         = var.region
  hub_domain     = var.domain
  content_domain = var.domain == null ? null : "links.${var.domain}"

  # A new project may run 20 CPUs and 40 GiB of a service at a time; Cloud Run refuses a service that could have more.
  worker       = { max_instances = 2 }
  large_worker = { max_instances = 1 }
}

output "url" {
  description = "Where the hub is."
  value       = module.xprof_hub.url
}

output "image_repository" {
  description = "Where the image is pushed to."
  value       = module.xprof_hub.image_repository
}

output "address" {
  description = "Where the host names have to point."
  value       = module.xprof_hub.address
}

output "next_steps" {
  description = "What is left to do by hand."
  value       = module.xprof_hub.next_steps
}
