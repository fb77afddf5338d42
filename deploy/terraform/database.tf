# PostgreSQL without a public address. Parts sign in with their identity (the proxy beside them gets a token), and
# act as one role that owns all tables, so that a job may change what a front end made.

locals {
  database_name = "xprof_hub"
  database_role = "xprof_hub"
  # What the front ends of two revisions may open, as one takes over from the other; the rest is for jobs and people.
  most_connections = max(100, 2 * var.front.database_connections * var.front.max_instances + 25)
  # Cloud SQL's name of a service account.
  database_users = { for part in local.database_parts : part => trimsuffix(local.emails[part], ".gserviceaccount.com") }
  database_urls = {
    for part, user in local.database_users : part =>
    "postgresql+psycopg://${urlencode(user)}@127.0.0.1:5432/${local.database_name}?options=-c%20role%3D${local.database_role}"
  }
}

resource "google_sql_database_instance" "this" {
  #checkov:skip=CKV_GCP_79:It is PostgreSQL 18 by default, which the scanner does not find in a variable with optional fields
  project             = var.project_id
  region              = var.region
  name                = coalesce(var.database.instance, var.name)
  database_version    = var.database.version
  encryption_key_name = var.kms_key
  deletion_protection = local.protected

  settings {
    tier                        = var.database.tier
    edition                     = "ENTERPRISE"
    availability_type           = var.database.regional ? "REGIONAL" : "ZONAL"
    disk_size                   = var.database.disk_gb
    disk_type                   = "PD_SSD"
    disk_autoresize             = true
    deletion_protection_enabled = local.protected
    user_labels                 = local.labels

    ip_configuration {
      ipv4_enabled    = false
      private_network = google_compute_network.this.id
      # The proxies get themselves one; nobody comes without a proxy.
      ssl_mode = "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
    }

    backup_configuration {
      enabled                        = true
      start_time                     = "02:00"
      point_in_time_recovery_enabled = true
      transaction_log_retention_days = var.database.log_days

      backup_retention_settings {
        retained_backups = var.database.backups
        retention_unit   = "COUNT"
      }
    }

    maintenance_window {
      day          = 7
      hour         = 4
      update_track = "stable"
    }

    database_flags {
      name  = "cloudsql.iam_authentication"
      value = "on"
    }

    database_flags {
      name  = "max_connections"
      value = tostring(local.most_connections)
    }

    database_flags {
      name  = "log_lock_waits"
      value = "on"
    }

    insights_config {
      query_insights_enabled = true
    }
  }

  depends_on = [google_service_networking_connection.this, google_kms_crypto_key_iam_member.agents]
}

resource "google_sql_database" "this" {
  project         = var.project_id
  instance        = google_sql_database_instance.this.name
  name            = local.database_name
  deletion_policy = "ABANDON"
}

resource "google_sql_user" "parts" {
  for_each        = local.database_users
  project         = var.project_id
  instance        = google_sql_database_instance.this.name
  name            = each.value
  type            = "CLOUD_IAM_SERVICE_ACCOUNT"
  deletion_policy = "ABANDON"
  depends_on      = [google_service_account.this]
}

# ---- the role that owns the tables: only a user with a password can make it. Both places get it in one run; if that
# run fails between them, raise the version.
ephemeral "random_password" "database" {
  length  = 40
  special = false
}

resource "google_secret_manager_secret_version" "database_password" {
  secret                 = google_secret_manager_secret.this["database-password"].id
  secret_data_wo         = ephemeral.random_password.database.result
  secret_data_wo_version = var.database_password_version
}

resource "google_sql_user" "setup" {
  project             = var.project_id
  instance            = google_sql_database_instance.this.name
  name                = "postgres"
  password_wo         = ephemeral.random_password.database.result
  password_wo_version = var.database_password_version
  deletion_policy     = "ABANDON"
}
