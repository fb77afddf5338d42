# A key of one's own, where that is asked for: whoever keeps data for the hub may use it, and nobody else. Without
# one Google's own keys encrypt everything. And the services' own accounts, which are made by asking for them.

locals {
  keepers = var.kms_key == null ? toset([]) : toset([
    "artifactregistry.googleapis.com",
    "pubsub.googleapis.com",
    "redis.googleapis.com",
    "secretmanager.googleapis.com",
    "sqladmin.googleapis.com",
  ])
  # That of Pub/Sub signs notifications, with or without a key. IAP calls Cloud Run by its own, and answers nobody until
  # that is there: https://cloud.google.com/iap/docs/enabling-cloud-run
  agents = setunion(local.keepers, local.notifies ? ["pubsub.googleapis.com"] : [], local.has_iap ? ["iap.googleapis.com"] : [])
  key_users = merge(
    { for service in local.keepers : service => google_project_service_identity.agents[service].member },
    { for account in data.google_storage_project_service_account.own : "storage.googleapis.com" => account.member },
  )
}

resource "google_project_service_identity" "agents" {
  for_each   = local.agents
  provider   = google-beta
  project    = var.project_id
  service    = each.key
  depends_on = [google_project_service.this]
}

data "google_storage_project_service_account" "own" {
  count   = var.kms_key == null ? 0 : 1
  project = var.project_id
}

resource "google_kms_crypto_key_iam_member" "agents" {
  for_each      = local.key_users
  crypto_key_id = var.kms_key
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = each.value
}
