variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "A project's id has 6 to 30 lower-case letters, digits and hyphens."
  }
}

variable "region" {
  description = "Region of everything that has one; best that of the profile buckets."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "A region looks like europe-west4."
  }
}

variable "name" {
  description = "Beginning of all names, so that a project can hold several hubs."
  type        = string
  default     = "xprof-hub"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,16}[a-z0-9]$", var.name))
    error_message = "A name has 3 to 18 lower-case letters, digits and hyphens: service accounts' names are short."
  }
}

variable "labels" {
  description = "Labels on everything that can have some, beside `app` and `managed-by`."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key, value in var.labels : can(regex("^[a-z][a-z0-9_-]{0,62}$", key)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "Labels have up to 63 lower-case letters, digits, hyphens and underscores."
  }
}

variable "deletion_protection" {
  description = "Whether terraform refuses to delete the front ends, the database and the secret key, and to empty the bucket of uploads."
  type        = bool
  default     = true
  nullable    = false
}

variable "image" {
  description = "Image of the hub, best by digest. Null: `xprof-hub:latest` in the repository that this module makes."
  type        = string
  default     = null
}

variable "hub_domain" {
  description = "Host name where people sign in, and of the API. Null: no load balancer, Cloud Run's own address, one host name for all."
  type        = string
  default     = null

  validation {
    condition     = var.hub_domain == null || can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}$", var.hub_domain))
    error_message = "A host name such as xprof.example.org, in lower case and without scheme."
  }
}

variable "content_domain" {
  description = "Host name of everything under a share link, best of another domain; it is never behind IAP. Needed with `hub_domain`."
  type        = string
  default     = null

  validation {
    condition     = var.content_domain == null || can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}$", var.content_domain))
    error_message = "A host name such as profiles.example.net, in lower case and without scheme."
  }

  validation {
    condition     = (var.content_domain == null) == (var.hub_domain == null)
    error_message = "Set both hub_domain and content_domain, or neither."
  }

  validation {
    condition     = var.content_domain == null || var.content_domain != var.hub_domain
    error_message = "Profiles hold text by anybody: content_domain must be another name than hub_domain."
  }
}

variable "auth" {
  description = "How people sign in: `token` (API tokens), `oidc` or `iap`."
  type        = string
  default     = "token"
  nullable    = false

  validation {
    condition     = contains(["token", "oidc", "iap"], var.auth)
    error_message = "auth is token, oidc or iap."
  }

  validation {
    condition     = var.auth != "iap" || var.hub_domain != null
    error_message = "IAP stands in the load balancer, so it needs hub_domain."
  }

  validation {
    condition     = (var.auth == "oidc") == (var.oidc != null)
    error_message = "Set oidc with auth = \"oidc\", and only then."
  }
}

variable "admins" {
  description = "Members who are always admins, such as `user:ann@example.org`, `group:sre` or `domain:example.org`."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for member in var.admins : can(regex("^(user|group|domain):[^,\\s]+$", member))])
    error_message = "Members look like user:ann@example.org, group:sre or domain:example.org."
  }
}

variable "oidc" {
  description = "The OpenID Connect provider. `client_secret` names an existing secret of this project in Secret Manager, read at `client_secret_version`."
  type = object({
    issuer                = string
    client_id             = string
    client_secret         = string
    client_secret_version = string
    scopes                = optional(string, "openid email profile")
    groups_claim          = optional(string, "groups")
  })
  default = null

  validation {
    condition     = var.oidc == null || startswith(try(var.oidc.issuer, ""), "https://")
    error_message = "The issuer is an https:// address."
  }

  validation {
    condition     = var.oidc == null || can(regex("^[0-9]+$", var.oidc.client_secret_version))
    error_message = "Name a version by its number: `latest` would change under running services."
  }
}

variable "iap_members" {
  description = "Who may pass IAP, such as `domain:example.org` or `group:ml@example.org`. The hub's own roles come after that."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for member in var.iap_members : can(regex("^(user|group|domain|serviceAccount|principal|principalSet):", member))])
    error_message = "IAM members have a kind, such as group:ml@example.org; allUsers would open what IAP closes."
  }
}

variable "iap_covers_api" {
  description = "Whether programs have to pass IAP, too. Otherwise API tokens alone are the permission on `/v1`, `/v1alpha` and `/ingest`."
  type        = bool
  default     = false
  nullable    = false
}

variable "profiles" {
  description = "What may be read, by any key: `root` is `gs://bucket` or `gs://bucket/prefix`; `project` is the bucket's, unless it is this one; `notify` says whether the bucket tells of new files."
  type = map(object({
    root    = string
    project = optional(string)
    notify  = optional(bool, true)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for profile in values(var.profiles) : can(regex("^gs://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](/[^,'\"\\\\]+)?$", profile.root))])
    error_message = "A root looks like gs://bucket or gs://bucket/prefix, without commas, quotes and backslashes."
  }
}

variable "scan_profiles" {
  description = "Whether new sessions are looked for under `profiles`: by front ends, or by a job (`scan_schedule`) where they have no CPU between requests."
  type        = bool
  default     = true
  nullable    = false
}

variable "settings" {
  description = "Further settings of all parts, by their whole name, such as `XPROF_HUB_LINK_DAYS`."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.settings) : can(regex("^XPROF_HUB_[A-Z_]+$", key))])
    error_message = "Settings are named in full, such as XPROF_HUB_LINK_DAYS."
  }
}

variable "artifact_days" {
  description = "Days until the bucket of artifacts forgets one; it is made again when it is asked for."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = var.artifact_days >= 1
    error_message = "At least one day."
  }
}

variable "upload_undelete_days" {
  description = "Days in which files that were deleted from the bucket of uploads can be brought back; 0, or 7 to 90."
  type        = number
  default     = 7
  nullable    = false

  validation {
    condition     = var.upload_undelete_days == 0 || (var.upload_undelete_days >= 7 && var.upload_undelete_days <= 90)
    error_message = "0, or 7 to 90 days."
  }
}

variable "prune_schedule" {
  description = "When `xprof-hub prune` deletes what is due, as cron says it, in UTC."
  type        = string
  default     = "17 3 * * *"
  nullable    = false

  validation {
    condition     = length(split(" ", var.prune_schedule)) == 5
    error_message = "Five fields, such as \"17 3 * * *\"."
  }
}

variable "scan_schedule" {
  description = "How often a job looks for new sessions, as cron says it, where front ends can't (`front.cpu_always` is false)."
  type        = string
  default     = "*/15 * * * *"
  nullable    = false

  validation {
    condition     = length(split(" ", var.scan_schedule)) == 5
    error_message = "Five fields, such as \"*/15 * * * *\"."
  }
}
