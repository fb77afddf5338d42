# Secrets by version: a new version makes a new revision of the services, and the old one goes on with the old
# version until then. The secret key is made here and never comes into the state.

locals {
  secrets = merge(
    {
      "secret-key"        = ["front", "worker", "jobs"]
      "redis-url"         = ["front", "worker", "jobs"]
      "redis-ca"          = ["front", "worker", "jobs"]
      "database-password" = ["setup"]
    },
    local.has_replica ? { "redis-replica-url" = ["front", "worker"] } : {},
    # No secret, but the one kind of file that every sidecar takes.
    var.metrics_image == null ? {} : { "metrics-config" = ["front", "worker"] },
  )
  has_replica = var.redis.read_replicas > 0

  secret_key_versions = toset([for version in compact([var.secret_key_version, var.accepted_secret_key_version]) : tostring(version)])
  # Settings that are secrets: of all parts that use the cache, and of front ends and workers. By short names, as Cloud Run
  # wants them for secrets of its own project: https://cloud.google.com/run/docs/reference/rest/v2/Container#secretkeyselector
  secret_settings = merge(
    {
      XPROF_HUB_SECRET_KEY = { secret = local.secret_names["secret-key"], version = google_secret_manager_secret_version.secret_key[var.secret_key_version].version }
      XPROF_HUB_REDIS_URL  = { secret = local.secret_names["redis-url"], version = google_secret_manager_secret_version.redis_url.version }
    },
    var.accepted_secret_key_version == null ? {} : {
      XPROF_HUB_OLD_SECRET_KEYS = { secret = local.secret_names["secret-key"], version = google_secret_manager_secret_version.secret_key[var.accepted_secret_key_version].version }
    },
  )
  service_secrets = merge(local.secret_settings, local.has_replica ? {
    XPROF_HUB_REDIS_REPLICA_URL = { secret = local.secret_names["redis-replica-url"], version = one(google_secret_manager_secret_version.redis_replica_url[*].version) }
  } : {})
  secret_names   = { for key, secret in google_secret_manager_secret.this : key => secret.secret_id }
  redis_options  = "ssl_ca_certs=${local.redis_ca_file}&ssl_check_hostname=false"
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

        dynamic "customer_managed_encryption" {
          for_each = var.kms_key[*]
          content {
            kms_key_name = customer_managed_encryption.value
          }
        }
      }
    }
  }

  depends_on = [google_project_service.this, google_kms_crypto_key_iam_member.agents]
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

# Two versions at once while one takes the place of the other: each is made once and stays as it is.
ephemeral "random_password" "secret_key" {
  for_each = local.secret_key_versions
  length   = 48
  special  = false
}

resource "google_secret_manager_secret_version" "secret_key" {
  for_each               = local.secret_key_versions
  secret                 = google_secret_manager_secret.this["secret-key"].id
  secret_data_wo         = ephemeral.random_password.secret_key[each.key].result
  secret_data_wo_version = tonumber(each.key)

  # A version that is given up ends after the last revision that starts with it.
  lifecycle {
    create_before_destroy = true
  }
}

# A version that another one takes the place of stays (`ABANDON`): terraform would end it before the new revision is there,
# and no instance of the old one could start meanwhile. It goes with its secret.
#
# Memorystore keeps the password in the state in any case. Its certificate has the address as a common name, which
# Python does not look at; but the authority that signed it is this instance's own and signs for nobody else.
resource "google_secret_manager_secret_version" "redis_url" {
  secret          = google_secret_manager_secret.this["redis-url"].id
  secret_data     = "rediss://:${google_redis_instance.this.auth_string}@${google_redis_instance.this.host}:${google_redis_instance.this.port}/0?${local.redis_options}"
  deletion_policy = "ABANDON"
}

resource "google_secret_manager_secret_version" "redis_replica_url" {
  count           = local.has_replica ? 1 : 0
  secret          = google_secret_manager_secret.this["redis-replica-url"].id
  secret_data     = "rediss://:${google_redis_instance.this.auth_string}@${google_redis_instance.this.read_endpoint}:${google_redis_instance.this.read_endpoint_port}/0?${local.redis_options}"
  deletion_policy = "ABANDON"
}

resource "google_secret_manager_secret_version" "redis_ca" {
  secret          = google_secret_manager_secret.this["redis-ca"].id
  secret_data     = join("\n", google_redis_instance.this.server_ca_certs[*].cert)
  deletion_policy = "ABANDON"
}

resource "google_secret_manager_secret_version" "metrics_config" {
  count  = var.metrics_image == null ? 0 : 1
  secret = google_secret_manager_secret.this["metrics-config"].id
  secret_data = yamlencode({
    apiVersion = "monitoring.googleapis.com/v1beta"
    kind       = "RunMonitoring"
    metadata   = { name = var.name }
    spec       = { endpoints = [{ port = local.metrics_port, path = "/metrics", interval = "30s" }] }
  })
  deletion_policy = "ABANDON"
}
