# How large everything is, what it may cost, and the images beside ours.

variable "front" {
  description = "The front ends. `concurrency` is requests in flight of one; the database lets in twice `database_connections` for each of `max_instances`, so many need a larger one; `cpu_always` keeps CPU between requests, which looking for sessions at once and converting in advance need."
  type = object({
    cpu           = optional(number, 1)
    memory_gib    = optional(number, 2)
    min_instances = optional(number, 1)
    max_instances = optional(number, 5)
    concurrency   = optional(number, 200)
    cpu_always    = optional(bool, true)

    database_connections = optional(number, 30)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains([1, 2, 4, 6], var.front.cpu) && var.front.memory_gib + 1 <= 4 * var.front.cpu
    error_message = "Cloud Run gives 1, 2, 4 or 6 CPUs beside the sidecars, and at most 4 GiB for each, of which the sidecars take 1."
  }

  # https://cloud.google.com/run/docs/configuring/services/cpu
  validation {
    condition     = var.front.memory_gib >= { "1" = 1, "2" = 1, "4" = 2, "6" = 4 }[tostring(var.front.cpu)]
    error_message = "At least 1 GiB; Cloud Run gives 4 CPUs only with 2 GiB, and 6 with 4 GiB."
  }

  validation {
    condition     = var.front.min_instances >= 0 && var.front.min_instances <= var.front.max_instances
    error_message = "min_instances is 0 or more, and not above max_instances."
  }

  validation {
    condition     = var.front.concurrency >= 1 && var.front.concurrency <= 1000
    error_message = "Cloud Run lets 1 to 1000 requests into one instance."
  }

  validation {
    condition     = var.front.database_connections >= 2 && var.front.database_connections <= 200
    error_message = "2 to 200 connections of one front end."
  }
}

variable "worker" {
  description = "The workers. `conversions` at once are let into one, and Cloud Run starts another one above that. `memory_gib` is that of a whole instance. Disk is memory on Cloud Run, so what `scratch_gib` and `results_gib` take is missing to conversions, and so is half a GiB for the sidecar. With 8 CPUs there is no room for the sidecar that hands metrics on."
  type = object({
    cpu           = optional(number, 4)
    memory_gib    = optional(number, 16)
    min_instances = optional(number, 0)
    max_instances = optional(number, 20)
    conversions   = optional(number, 2)
    scratch_gib   = optional(number, 3)
    results_gib   = optional(number, 1)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains([1, 2, 4, 6, 8], var.worker.cpu) && var.worker.memory_gib <= 4 * var.worker.cpu && (var.worker.cpu < 6 || var.worker.memory_gib >= 5)
    error_message = "Cloud Run gives 1, 2, 4, 6 or 8 CPUs, and at most 4 GiB for each; 6 or 8 only with 5 GiB."
  }

  validation {
    condition     = var.worker.memory_gib >= var.worker.scratch_gib + var.worker.results_gib + 3.5
    error_message = "At least 2 GiB must be left for conversions, beside scratch, results, 1 GiB for the worker itself and half of one for its sidecar."
  }

  validation {
    condition     = var.worker.min_instances >= 0 && var.worker.min_instances <= var.worker.max_instances && var.worker.conversions >= 1
    error_message = "min_instances is 0 or more and not above max_instances; conversions is at least 1."
  }
}

variable "large_worker" {
  description = "Workers with more memory, asked for what does not fit into the others; with 8 CPUs without the sidecar that hands metrics on. Null: none."
  type = object({
    cpu           = optional(number, 8)
    memory_gib    = optional(number, 32)
    min_instances = optional(number, 0)
    max_instances = optional(number, 4)
    conversions   = optional(number, 1)
    scratch_gib   = optional(number, 4)
    results_gib   = optional(number, 1)
  })
  default = {}

  validation {
    condition     = var.large_worker == null || (contains([1, 2, 4, 6, 8], try(var.large_worker.cpu, 0)) && try(var.large_worker.memory_gib <= 4 * var.large_worker.cpu && (var.large_worker.cpu < 6 || var.large_worker.memory_gib >= 5), false))
    error_message = "Cloud Run gives 1, 2, 4, 6 or 8 CPUs, and at most 4 GiB for each; 6 or 8 only with 5 GiB."
  }

  validation {
    condition     = var.large_worker == null || try(var.large_worker.memory_gib >= var.large_worker.scratch_gib + var.large_worker.results_gib + 3.5, false)
    error_message = "At least 2 GiB must be left for conversions, beside scratch, results, 1 GiB for the worker itself and half of one for its sidecar."
  }
}

variable "database" {
  description = "PostgreSQL on Cloud SQL. `regional` keeps a standby in another zone; `log_days` is how far back a point in time can be restored; `instance` names the instance, if not as everything."
  type = object({
    instance = optional(string)
    version  = optional(string, "POSTGRES_18")
    tier     = optional(string, "db-custom-1-3840")
    disk_gb  = optional(number, 10)
    regional = optional(bool, false)
    backups  = optional(number, 14)
    log_days = optional(number, 7)
  })
  default  = {}
  nullable = false

  validation {
    condition     = can(regex("^POSTGRES_(1[5-9]|[2-9][0-9])$", var.database.version))
    error_message = "POSTGRES_15 or newer."
  }

  validation {
    condition     = var.database.log_days >= 1 && var.database.log_days <= 7 && var.database.backups >= 2 && var.database.backups <= 365 && var.database.disk_gb >= 10
    error_message = "log_days is 1 to 7, 2 to 365 backups are kept, and the disk has 10 GB or more."
  }

  # The instance is of the edition Enterprise; other tiers belong to Enterprise Plus.
  validation {
    condition     = can(regex("^db-(custom-[0-9]+-[0-9]+|f1-micro|g1-small)$", var.database.tier))
    error_message = "A tier looks like db-custom-CPUS-MEGABYTES, such as db-custom-2-7680."
  }
}

variable "redis" {
  description = "Redis on Memorystore: results and leases. `replicated` keeps a second node; losing it costs time only. `read_replicas` are asked when the first node is slow."
  type = object({
    version       = optional(string, "REDIS_7_2")
    memory_gb     = optional(number, 2)
    replicated    = optional(bool, false)
    read_replicas = optional(number, 0)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.redis.memory_gb >= 1 && var.redis.memory_gb <= 300
    error_message = "1 to 300 GB."
  }

  validation {
    condition     = var.redis.read_replicas >= 0 && var.redis.read_replicas <= 5 && (var.redis.read_replicas == 0 || (var.redis.replicated && var.redis.memory_gb >= 5))
    error_message = "Memorystore has 1 to 5 read replicas where it is replicated and has at least 5 GB, else 0."
  }
}

variable "sandbox" {
  description = "What must hold around a conversion: `strict`, `standard` or `reduced` (docs/operations.md, Sandbox)."
  type        = string
  default     = "standard"
  nullable    = false

  validation {
    condition     = contains(["strict", "standard", "reduced"], var.sandbox)
    error_message = "sandbox is strict, standard or reduced."
  }
}

variable "subnet_range" {
  description = "Addresses of the subnet of the services, /26 or larger: each instance takes two, and for a while after its end."
  type        = string
  default     = "10.76.0.0/22"
  nullable    = false

  validation {
    condition     = can(cidrnetmask(var.subnet_range)) && try(tonumber(split("/", var.subnet_range)[1]) <= 26, false)
    error_message = "An IPv4 range of /26 or larger, such as 10.76.0.0/22."
  }
}

variable "restricted_apis" {
  description = "Whether Google's APIs are reached by the addresses that VPC Service Controls guard."
  type        = bool
  default     = false
  nullable    = false
}

variable "requests_per_minute" {
  description = "Most requests of one network address within a minute before Cloud Armor refuses; above the hub's own limit of 6000."
  type        = number
  default     = 12000
  nullable    = false

  validation {
    condition     = var.requests_per_minute >= 100
    error_message = "A page alone asks some dozens of times; at least 100."
  }
}

variable "notification_channels" {
  description = "Monitoring channels that alerts go to, as `projects/PROJECT/notificationChannels/ID`."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for channel in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])
    error_message = "Channels look like projects/PROJECT/notificationChannels/ID."
  }
}

variable "slow_seconds" {
  description = "When 95% of the requests to front ends take longer than this, an alert says so."
  type        = number
  default     = 5
  nullable    = false

  validation {
    condition     = var.slow_seconds > 0
    error_message = "More than 0 seconds."
  }
}

variable "availability_goal" {
  description = "Share of requests that are answered without a server error, over 28 days."
  type        = number
  default     = 0.995
  nullable    = false

  validation {
    condition     = var.availability_goal > 0.5 && var.availability_goal <= 0.9999
    error_message = "Above 0.5, and not above 0.9999, the most that Cloud Monitoring takes."
  }
}

variable "proxy_image" {
  description = "Cloud SQL Auth Proxy, which signs in to the database with each part's identity."
  type        = string
  default     = "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.18.0"
  nullable    = false
}

variable "metrics_image" {
  description = "Sidecar that hands the metrics on to Cloud Monitoring. Null: none, and no alerts on the hub's own metrics."
  type        = string
  default     = "us-docker.pkg.dev/cloud-ops-agents-artifacts/cloud-run-gmp-sidecar/cloud-run-gmp-sidecar:1.2.0"
}
