# A hub for an organisation: IAP for people, links on a domain of their own, standbys, VPC Service Controls'
# addresses are left to `restricted_apis`.

terraform {
  required_version = ">= 1.11"

  # A bucket with versions that only those may read who may read the database: the state holds Redis' password.
  backend "gcs" {
    bucket = "example-terraform-state"
    prefix = "xprof-hub"
  }
}

provider "google" {
  project = "example-xprof"
  region  = "us-central1"
}

provider "google-beta" {
  project = "example-xprof"
  region  = "us-central1"
}

resource "google_monitoring_notification_channel" "on_call" {
  display_name = "Who is on call for XProf Hub"
  type         = "email"
  user_labels  = { team = "ml-performance" }
  labels       = { email_address = "on-call@example.org" }
}

module "xprof_hub" {
  source = "../.."

  project_id = "example-xprof"
  region     = "us-central1"
  labels     = { team = "ml-performance", cost-center = "1234" }

  image          = "us-central1-docker.pkg.dev/example-xprof/xprof-hub/xprof-hub@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  hub_domain     = "xprof.example.org"
  content_domain = "xprof.example-usercontent.net"

  auth        = "iap"
  iap_members = ["domain:example.org"]
  admins      = ["user:ann@example.org"]

  profiles = {
    training = { root = "gs://example-training/runs" }
    research = { root = "gs://example-research", project = "example-research", notify = false }
  }

  front        = { cpu = 2, memory_gib = 4, min_instances = 2, max_instances = 20 }
  worker       = { cpu = 6, memory_gib = 24, conversions = 3, min_instances = 1, max_instances = 50, scratch_gib = 6 }
  large_worker = { min_instances = 0, max_instances = 10 }
  database     = { tier = "db-custom-4-15360", regional = true, backups = 30 }
  redis        = { memory_gb = 10, replicated = true, read_replicas = 1 }

  settings = { XPROF_HUB_LINK_DAYS = "14" }

  notification_channels = [google_monitoring_notification_channel.on_call.id]
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
  description = "Where both host names have to point."
  value       = module.xprof_hub.address
}

output "next_steps" {
  description = "What is left to do by hand."
  value       = module.xprof_hub.next_steps
}
