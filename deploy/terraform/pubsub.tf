# Buckets tell of new files, so that a session shows up within seconds. Looking for it goes on as a safety net,
# so a message that is lost costs a minute, and nothing is kept for later.

locals {
  notifying = {
    for key, profile in var.profiles : key => {
      project = coalesce(profile.project, var.project_id)
      bucket  = split("/", trimprefix(profile.root, "gs://"))[0]
      prefix  = join("/", concat(compact(slice(split("/", profile.root), 3, length(split("/", profile.root)))), [""]))
    } if profile.notify
  }
  notifies = length(local.notifying) > 0
  # Cloud Run's own address: Pub/Sub counts as internal there, and pushes to no other one within VPC Service Controls.
  push_endpoint = "${local.front_url}/v1/notifications:push"
}

data "google_storage_project_service_account" "profiles" {
  for_each = toset([for profile in local.notifying : profile.project])
  project  = each.key
}

resource "google_pubsub_topic" "profiles" {
  count                      = local.notifies ? 1 : 0
  project                    = var.project_id
  name                       = "${var.name}-profiles"
  labels                     = local.labels
  message_retention_duration = "3600s"
  kms_key_name               = var.kms_key

  message_storage_policy {
    allowed_persistence_regions = [var.region]
  }

  depends_on = [google_project_service.this, google_kms_crypto_key_iam_member.agents]
}

resource "google_pubsub_topic_iam_member" "buckets" {
  for_each = data.google_storage_project_service_account.profiles
  project  = var.project_id
  topic    = google_pubsub_topic.profiles[0].name
  role     = "roles/pubsub.publisher"
  member   = each.value.member
}

resource "google_storage_notification" "profiles" {
  for_each           = local.notifying
  bucket             = each.value.bucket
  topic              = google_pubsub_topic.profiles[0].id
  payload_format     = "JSON_API_V1"
  event_types        = ["OBJECT_FINALIZE"]
  object_name_prefix = each.value.prefix == "" ? null : each.value.prefix
  depends_on         = [google_pubsub_topic_iam_member.buckets]
}

# Projects differ in whether Pub/Sub may do this by itself.
resource "google_service_account_iam_member" "pubsub_signs" {
  count              = local.notifies ? 1 : 0
  service_account_id = google_service_account.this["push"].name
  role               = "roles/iam.serviceAccountOpenIdTokenCreator"
  member             = google_project_service_identity.agents["pubsub.googleapis.com"].member
}

resource "google_pubsub_subscription" "push" {
  count                      = local.notifies ? 1 : 0
  project                    = var.project_id
  name                       = "${var.name}-push"
  topic                      = google_pubsub_topic.profiles[0].id
  labels                     = local.labels
  ack_deadline_seconds       = 30
  message_retention_duration = "3600s"

  expiration_policy {
    ttl = ""
  }

  push_config {
    push_endpoint = local.push_endpoint
    oidc_token {
      service_account_email = google_service_account.this["push"].email
      audience              = local.push_endpoint
    }
  }

  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }

  depends_on = [google_service_account_iam_member.pubsub_signs]
}
