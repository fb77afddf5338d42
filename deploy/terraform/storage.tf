# Two buckets of our own, and the right to read what is listed in `profiles`.

locals {
  profile_grants = merge([for key, profile in var.profiles : {
    for part in concat(["front", "worker"], local.job_scan ? ["jobs"] : []) : "${key} ${part}" => {
      part   = part
      bucket = split("/", trimprefix(profile.root, "gs://"))[0]
      prefix = join("/", compact(slice(split("/", trimprefix(profile.root, "gs://")), 1, length(split("/", trimprefix(profile.root, "gs://"))))))
    }
  }]...)
  deletes_uploads = lookup(var.settings, "XPROF_HUB_DELETE_PROFILES", "false") == "true"
  own_grants = merge(local.deletes_uploads ? { "uploads jobs" = { bucket = google_storage_bucket.uploads.name, part = "jobs", role = "roles/storage.objectUser" } } : {}, {
    "cache worker"   = { bucket = google_storage_bucket.cache.name, part = "worker", role = "roles/storage.objectUser" }
    "cache jobs"     = { bucket = google_storage_bucket.cache.name, part = "jobs", role = "roles/storage.objectUser" }
    "uploads front"  = { bucket = google_storage_bucket.uploads.name, part = "front", role = "roles/storage.objectUser" }
    "uploads worker" = { bucket = google_storage_bucket.uploads.name, part = "worker", role = "roles/storage.objectViewer" }
  })
}

# Made again when it is asked for.
resource "google_storage_bucket" "cache" {
  #checkov:skip=CKV_GCP_62:Who reads and writes is in Cloud Audit Logs where the organisation wants that; a second log would list every run
  #checkov:skip=CKV_GCP_78:Every object can be made again, so an older version is of no use
  project                     = var.project_id
  name                        = "${var.project_id}-${var.name}-cache"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true
  labels                      = local.labels

  soft_delete_policy {
    retention_duration_seconds = 0
  }

  dynamic "encryption" {
    for_each = var.kms_key[*]
    content {
      default_kms_key_name = encryption.value
    }
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age = var.artifact_days
    }
  }

  lifecycle_rule {
    action {
      type = "AbortIncompleteMultipartUpload"
    }
    condition {
      age = 1
    }
  }

  depends_on = [google_project_service.this, google_kms_crypto_key_iam_member.agents]
}

# People's only copy.
resource "google_storage_bucket" "uploads" {
  #checkov:skip=CKV_GCP_62:Who reads and writes is in Cloud Audit Logs where the organisation wants that; a second log would list every run
  #checkov:skip=CKV_GCP_78:Files are never overwritten, and soft deletion brings back deleted ones (upload_undelete_days)
  project                     = var.project_id
  name                        = "${var.project_id}-${var.name}-uploads"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !local.protected
  labels                      = local.labels

  soft_delete_policy {
    retention_duration_seconds = var.upload_undelete_days * 86400
  }

  dynamic "encryption" {
    for_each = var.kms_key[*]
    content {
      default_kms_key_name = encryption.value
    }
  }

  lifecycle_rule {
    action {
      type = "AbortIncompleteMultipartUpload"
    }
    condition {
      age = 1
    }
  }

  depends_on = [google_project_service.this, google_kms_crypto_key_iam_member.agents]
}

resource "google_storage_bucket_iam_member" "own" {
  for_each = local.own_grants
  bucket   = each.value.bucket
  role     = each.value.role
  member   = google_service_account.this[each.value.part].member
}

# Reading only, and below the prefix only: listings are a right on the bucket, so their prefix is asked for.
resource "google_storage_bucket_iam_member" "profiles" {
  for_each = local.profile_grants
  bucket   = each.value.bucket
  role     = "roles/storage.objectViewer"
  member   = google_service_account.this[each.value.part].member

  dynamic "condition" {
    for_each = each.value.prefix == "" ? [] : [each.value]
    content {
      title      = "below-the-prefix"
      expression = "resource.name.startsWith('projects/_/buckets/${condition.value.bucket}/objects/${condition.value.prefix}/') || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('${condition.value.prefix}/')"
    }
  }
}
