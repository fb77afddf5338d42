# Jobs: one that makes the database's role whenever its members change, and one that deletes what is due, daily.

locals {
  proxy_arguments = [
    "--private-ip", "--auto-iam-authn", "--address=127.0.0.1", "--port=5432",
    "--health-check", "--http-address=0.0.0.0", "--http-port=9090", "--exit-zero-on-sigterm", "--structured-logs",
    google_sql_database_instance.this.connection_name,
  ]
  jobs_settings = merge(local.common_settings, {
    XPROF_HUB_BASE_URL     = local.base_url
    XPROF_HUB_AUTH         = var.auth
    XPROF_HUB_DATABASE_URL = local.database_urls.jobs
  })
  # Another command may be run once: `gcloud run jobs execute ... --update-env-vars="HUB_COMMAND=doctor"`.
  # The proxy has to be told that the job is done, or the task would last until its time is over.
  prune_script = <<-EOT
    xprof-hub $HUB_COMMAND
    status=$?
    python -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:9091/quitquitquit", data=b"")'
    exit $status
  EOT
  setup_script = file("${path.module}/files/grant_roles.py")
}

resource "google_cloud_run_v2_job" "setup" {
  provider            = google-beta
  project             = var.project_id
  location            = var.region
  name                = "${var.name}-setup"
  deletion_protection = false
  labels              = local.labels
  # Terraform runs it and waits for its end; again when what it does or for whom has changed.
  run_execution_token = substr(sha256(join("\n", concat([local.setup_script], values(local.database_users)))), 0, 8)

  template {
    labels = local.labels

    template {
      service_account = google_service_account.this["setup"].email
      max_retries     = 3
      timeout         = "300s"

      vpc_access {
        egress = "ALL_TRAFFIC"
        network_interfaces {
          network    = google_compute_network.this.id
          subnetwork = google_compute_subnetwork.this.id
          tags       = [local.tags.setup]
        }
      }

      containers {
        name    = "setup"
        image   = local.image
        command = ["python"]
        args    = ["-c", local.setup_script]

        dynamic "env" {
          for_each = {
            PGHOST     = google_sql_database_instance.this.private_ip_address
            PGUSER     = google_sql_user.setup.name
            PGDATABASE = google_sql_database.this.name
            PGSSLMODE  = "require"
            ROLE       = local.database_role
            MEMBERS    = join(",", [for user in google_sql_user.parts : user.name])
          }
          content {
            name  = env.key
            value = env.value
          }
        }

        env {
          name = "PGPASSWORD"
          value_source {
            secret_key_ref {
              secret  = google_secret_manager_secret.this["database-password"].secret_id
              version = google_secret_manager_secret_version.database_password.version
            }
          }
        }
      }
    }
  }

  depends_on = [google_secret_manager_secret_iam_member.readers, google_compute_firewall.egress, google_project_service.this]
}

resource "google_cloud_run_v2_job" "prune" {
  project             = var.project_id
  location            = var.region
  name                = "${var.name}-prune"
  deletion_protection = false
  labels              = local.labels

  template {
    task_count  = 1
    parallelism = 1
    labels      = local.labels

    template {
      service_account       = google_service_account.this["jobs"].email
      execution_environment = "EXECUTION_ENVIRONMENT_GEN2"
      max_retries           = 1
      timeout               = "3600s"

      vpc_access {
        egress = "ALL_TRAFFIC"
        network_interfaces {
          network    = google_compute_network.this.id
          subnetwork = google_compute_subnetwork.this.id
          tags       = [local.tags.jobs]
        }
      }

      containers {
        name       = "prune"
        image      = local.image
        command    = ["sh", "-c"]
        args       = [local.prune_script]
        depends_on = ["database-proxy"]

        resources {
          limits = { cpu = "1", memory = "1Gi" }
        }

        dynamic "env" {
          for_each = merge(var.settings, local.jobs_settings, { HUB_COMMAND = "prune --json" })
          content {
            name  = env.key
            value = env.value
          }
        }

        dynamic "env" {
          for_each = local.secret_settings
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

        volume_mounts {
          name       = "redis-ca"
          mount_path = local.redis_ca_folder
        }
      }

      containers {
        name  = "database-proxy"
        image = var.proxy_image
        args  = concat(["--quitquitquit", "--admin-port=9091"], local.proxy_arguments)

        resources {
          limits = { cpu = "1", memory = "512Mi" }
        }

        startup_probe {
          period_seconds    = 1
          failure_threshold = 60
          http_get {
            path = "/startup"
            port = 9090
          }
        }
      }

      volumes {
        name = "redis-ca"
        secret {
          secret = google_secret_manager_secret.this["redis-ca"].secret_id
          items {
            version = google_secret_manager_secret_version.redis_ca.version
            path    = basename(local.redis_ca_file)
          }
        }
      }
    }
  }

  depends_on = [google_cloud_run_v2_service.front]
}

resource "google_cloud_run_v2_job_iam_member" "scheduler" {
  project  = var.project_id
  location = var.region
  name     = google_cloud_run_v2_job.prune.name
  role     = "roles/run.invoker"
  member   = google_service_account.this["scheduler"].member
}

resource "google_cloud_scheduler_job" "prune" {
  project          = var.project_id
  region           = var.region
  name             = "${var.name}-prune"
  description      = "Deletes what is due"
  schedule         = var.prune_schedule
  time_zone        = "Etc/UTC"
  attempt_deadline = "60s"

  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = "https://run.googleapis.com/v2/projects/${var.project_id}/locations/${var.region}/jobs/${google_cloud_run_v2_job.prune.name}:run"

    oauth_token {
      service_account_email = google_service_account.this["scheduler"].email
    }
  }

  depends_on = [google_cloud_run_v2_job_iam_member.scheduler]
}
