# The job that makes the database's role, and makes sure of it whenever something of the job changes. It alone signs in with a password: users that
# sign in with an identity may do nothing at first.

locals {
  setup_script = file("${path.module}/files/grant_roles.py")
}

# All that the job is made of. An execution is named after the word, and a job that is changed with the word of before asks for one
# whose name is taken, which Google may refuse: https://github.com/hashicorp/terraform-provider-google/issues/24451
resource "random_id" "setup" {
  byte_length = 4
  keepers = {
    script   = sha256(local.setup_script)
    members  = join(",", values(local.database_users))
    database = google_sql_database_instance.this.connection_name
    password = google_secret_manager_secret_version.database_password.version
    job      = sha256(jsonencode([local.image, local.with_proxy, var.proxy_image, local.proxy_arguments, local.labels]))
  }
}

resource "google_cloud_run_v2_job" "setup" {
  provider            = google-beta
  project             = var.project_id
  location            = var.region
  name                = "${var.name}-setup"
  deletion_protection = false
  labels              = local.labels
  # Terraform runs it and waits for its end; again when what it does or for whom has changed.
  run_execution_token = random_id.setup.hex

  template {
    labels = local.labels

    template {
      service_account       = google_service_account.this["setup"].email
      execution_environment = "EXECUTION_ENVIRONMENT_GEN2"
      max_retries           = 1
      timeout               = "300s"

      vpc_access {
        egress = "ALL_TRAFFIC"
        network_interfaces {
          network    = google_compute_network.this.id
          subnetwork = google_compute_subnetwork.this.id
          tags       = [local.tags.setup]
        }
      }

      containers {
        name       = "setup"
        image      = local.image
        command    = ["sh"]
        args       = ["-c", local.with_proxy, "job", "python", "-c", local.setup_script]
        depends_on = ["database-proxy"]

        dynamic "env" {
          for_each = {
            PGHOST     = "127.0.0.1"
            PGUSER     = google_sql_user.setup.name
            PGDATABASE = google_sql_database.this.name
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

      containers {
        name  = "database-proxy"
        image = var.proxy_image
        args  = concat(local.job_arguments, local.proxy_arguments)

        startup_probe {
          period_seconds    = 1
          failure_threshold = 220
          http_get {
            path = "/startup"
            port = 9090
          }
        }
      }
    }
  }

  depends_on = [
    google_project_iam_member.database,
    google_secret_manager_secret_iam_member.readers,
    google_compute_firewall.egress,
    google_dns_record_set.apis,
    google_dns_record_set.api_names,
  ]
}
