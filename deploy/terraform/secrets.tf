# Secrets by version: a new version makes a new revision of the services, and the old one goes on with the old
# version until then. The secret key is made here and never comes into the state.

locals {
  secrets = {
    "secret-key"        = ["front", "worker", "jobs"]
    "redis-url"         = ["front", "worker", "jobs"]
    "redis-ca"          = ["front", "worker", "jobs"]
    "database-password" = ["setup"]
  }
  secret_readers = merge([for secret, parts in local.secrets : { for part in parts : "${secret} ${part}" => { secret = secret, part = part } }]...)
}

resource "google_secret_manager_secret" "this" {
  for_each            = local.secrets
  project             = var.project_id
  secret_id           = "${var.name}-${each.key}"
  labels              = local.labels
  deletion_protection = local.protected && each.key == "secret-key"
  version_destroy_ttl = "604800s"

  replication {
    user_managed {
      replicas {
        location = var.region
      }
    }
  }

  depends_on = [google_project_service.this]
}

resource "google_secret_manager_secret_iam_member" "readers" {
  for_each  = local.secret_readers
  project   = var.project_id
  secret_id = google_secret_manager_secret.this[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.this[each.value.part].member
}

resource "google_secret_manager_secret_iam_member" "oidc" {
  count     = var.auth == "oidc" ? 1 : 0
  project   = var.project_id
  secret_id = var.oidc.client_secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.this["front"].member
}

ephemeral "random_password" "secret_key" {
  length  = 48
  special = false
}

resource "google_secret_manager_secret_version" "secret_key" {
  secret                 = google_secret_manager_secret.this["secret-key"].id
  secret_data_wo         = ephemeral.random_password.secret_key.result
  secret_data_wo_version = var.secret_key_version
}

# Memorystore keeps the password in the state in any case. Its certificate has the address as a common name, which
# Python does not look at; but the authority that signed it is this instance's own and signs for nobody else.
resource "google_secret_manager_secret_version" "redis_url" {
  secret      = google_secret_manager_secret.this["redis-url"].id
  secret_data = "rediss://:${google_redis_instance.this.auth_string}@${google_redis_instance.this.host}:${google_redis_instance.this.port}/0?ssl_ca_certs=${local.redis_ca_file}&ssl_check_hostname=false"
}

resource "google_secret_manager_secret_version" "redis_ca" {
  secret      = google_secret_manager_secret.this["redis-ca"].id
  secret_data = join("\n", google_redis_instance.this.server_ca_certs[*].cert)
}
