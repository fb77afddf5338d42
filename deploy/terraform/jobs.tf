# Jobs: one migrates the database before front ends of a new image start, one deletes what is due, daily, and one
# looks for new sessions where front ends can't.

locals {
  jobs_settings = merge(local.common_settings, local.iap_settings, {
    XPROF_HUB_BASE_URL             = local.base_url
    XPROF_HUB_AUTH                 = var.auth
    XPROF_HUB_DATABASE_URL         = local.database_urls.jobs
    XPROF_HUB_DATABASE_CONNECTIONS = "5"
    # The command `migrate` does so all the same.
    XPROF_HUB_MIGRATE = "false"
  })
  # Another command may be run once: `gcloud run jobs execute ... --container=prune --update-env-vars=HUB_COMMAND=doctor`.
  # Whoever migrates may change the tables, and nothing else: no bucket, no cache, no secret.
  tasks = merge(
    {
      migrate = { part = "migrate", command = "migrate", attempts = 3, seconds = 1800, settings = { XPROF_HUB_DATABASE_URL = local.database_urls.migrate } }
      prune   = { part = "jobs", command = "prune --json", attempts = 2, seconds = 3600, settings = {} }
    },
    local.job_scan ? {
      scan = { part = "jobs", command = "scan --json", attempts = 1, seconds = 900, settings = { XPROF_HUB_SCAN_ROOTS = join(",", local.roots) } }
    } : {},
  )
  schedules = merge(
    { prune = { cron = var.prune_schedule, description = "Deletes what is due" } },
    local.job_scan ? { scan = { cron = var.scan_schedule, description = "Looks for new sessions" } } : {},
  )
  # The proxy has to be told that the job is done, or the task would last until its time is over.
  with_proxy = <<-EOT
    "$@"
    status=$?
    python -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:9091/quitquitquit", data=b"")'
    exit $status
  EOT
  proxy_arguments = [
    "--private-ip", "--address=127.0.0.1", "--port=5432",
    "--health-check", "--http-address=0.0.0.0", "--http-port=9090", "--exit-zero-on-sigterm", "--structured-logs",
    google_sql_database_instance.this.connection_name,
  ]
  identity_arguments = concat(["--auto-iam-authn"], local.proxy_arguments)
  job_arguments      = ["--quitquitquit", "--admin-port=9091"]
}

# Terraform runs the migration, and waits for its end, whenever this is another one: for each image, after the job that makes
# the role, so for a database that was restored, and whenever the job changes (setup.tf). Random, since an execution is named after
# it, and going back to an image is one more.
resource "random_id" "migrate" {
  byte_length = 4
  keepers = {
    image = local.image
    setup = random_id.setup.hex
    job   = sha256(jsonencode([var.settings, local.jobs_settings, local.tasks.migrate]))
  }
}

resource "google_cloud_run_v2_job" "tasks" {
  for_each            = local.tasks
  provider            = google-beta
  project             = var.project_id
  location            = var.region
  name                = "${var.name}-${each.key}"
  deletion_protection = false
  labels              = local.labels
  run_execution_token = each.key == "migrate" ? random_id.migrate.hex : null

  template {
    task_count  = 1
    parallelism = 1
    labels      = local.labels

    template {
      service_account       = google_service_account.this[each.value.part].email
      execution_environment = "EXECUTION_ENVIRONMENT_GEN2"
      max_retries           = each.value.attempts - 1
      timeout               = "${each.value.seconds}s"

      vpc_access {
        egress = "ALL_TRAFFIC"
        network_interfaces {
          network    = google_compute_network.this.id
          subnetwork = google_compute_subnetwork.this.id
          tags       = [local.tags[each.value.part]]
        }
      }

      containers {
        name       = each.key
        image      = local.image
        command    = ["sh"]
        args       = ["-c", local.with_proxy, "job", "sh", "-c", "exec xprof-hub $HUB_COMMAND"]
        depends_on = ["database-proxy"]

        resources {
          limits = { cpu = "1", memory = "1Gi" }
        }

        dynamic "env" {
          for_each = merge(var.settings, local.jobs_settings, each.value.settings, { HUB_COMMAND = each.value.command })
          content {
            name  = env.key
            value = env.value
          }
        }

        dynamic "env" {
          for_each = { for name, secret in local.secret_settings : name => secret if each.value.part == "jobs" }
          content {
            name = env.key
            value_source {
              secret_key_ref {
                secret  = env.value.secret
                version = env.value.version
              }
            }
          }
        }

        dynamic "volume_mounts" {
          for_each = each.value.part == "jobs" ? [local.redis_ca_folder] : []
          content {
            name       = "redis-ca"
            mount_path = volume_mounts.value
          }
        }
      }

      containers {
        name  = "database-proxy"
        image = var.proxy_image
        args  = concat(local.job_arguments, local.identity_arguments)

        resources {
          limits = { cpu = "1", memory = "512Mi" }
        }

        startup_probe {
          period_seconds    = 1
          failure_threshold = 220
          http_get {
            path = "/startup"
            port = 9090
          }
        }
      }

      dynamic "volumes" {
        for_each = each.value.part == "jobs" ? [google_secret_manager_secret_version.redis_ca] : []
        content {
          name = "redis-ca"
          secret {
            secret = google_secret_manager_secret.this["redis-ca"].secret_id
            items {
              version = volumes.value.version
              path    = basename(local.redis_ca_file)
            }
          }
        }
      }
    }
  }

  # All attempts of a migration, which terraform waits for.
  timeouts {
    create = "100m"
    update = "100m"
  }

  depends_on = [
    google_cloud_run_v2_job.setup,
    google_project_iam_member.database,
    google_secret_manager_secret_iam_member.readers,
    google_storage_bucket_iam_member.own,
    google_storage_bucket_iam_member.profiles,
    google_compute_firewall.egress,
    google_dns_record_set.apis,
    google_dns_record_set.api_names,
  ]
}

# ---- what starts them
resource "google_cloud_run_v2_job_iam_member" "scheduler" {
  for_each = local.schedules
  project  = var.project_id
  location = var.region
  name     = google_cloud_run_v2_job.tasks[each.key].name
  role     = "roles/run.invoker"
  member   = google_service_account.this["scheduler"].member
}

resource "google_cloud_scheduler_job" "this" {
  for_each         = local.schedules
  project          = var.project_id
  region           = var.region
  name             = "${var.name}-${each.key}"
  description      = each.value.description
  schedule         = each.value.cron
  time_zone        = "Etc/UTC"
  attempt_deadline = "60s"

  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = "https://run.googleapis.com/v2/projects/${var.project_id}/locations/${var.region}/jobs/${google_cloud_run_v2_job.tasks[each.key].name}:run"

    oauth_token {
      service_account_email = google_service_account.this["scheduler"].email
    }
  }

  depends_on = [google_cloud_run_v2_job_iam_member.scheduler]
}
