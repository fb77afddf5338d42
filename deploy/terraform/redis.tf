# Results and leases: private, with a password and TLS. Losing it loses nothing but time, so nothing is saved.

locals {
  redis_ca_folder = "/etc/xprof-hub/redis"
  redis_ca_file   = "${local.redis_ca_folder}/ca.pem"
}

resource "google_redis_instance" "this" {
  project                 = var.project_id
  region                  = var.region
  name                    = var.name
  display_name            = "XProf Hub"
  tier                    = var.redis.replicated ? "STANDARD_HA" : "BASIC"
  memory_size_gb          = var.redis.memory_gb
  redis_version           = var.redis.version
  auth_enabled            = true
  transit_encryption_mode = "SERVER_AUTHENTICATION"
  authorized_network      = google_compute_network.this.id
  connect_mode            = "PRIVATE_SERVICE_ACCESS"
  customer_managed_key    = var.kms_key
  read_replicas_mode      = var.redis.read_replicas > 0 ? "READ_REPLICAS_ENABLED" : "READ_REPLICAS_DISABLED"
  replica_count           = local.has_replica ? var.redis.read_replicas : null
  labels                  = local.labels

  # Every key of the hub expires.
  redis_configs = { "maxmemory-policy" = "volatile-lru" }

  # Reading from replicas can be turned on later only with a second range of addresses, which creating one does not take.
  lifecycle {
    replace_triggered_by = [terraform_data.has_replica]
  }

  depends_on = [google_service_networking_connection.this, google_kms_crypto_key_iam_member.agents]
}

resource "terraform_data" "has_replica" {
  input = local.has_replica
}
