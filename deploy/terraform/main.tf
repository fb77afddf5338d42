# What all files share: names, addresses, settings, and the APIs that the module needs.

locals {
  labels = merge({ app = var.name, "managed-by" = "terraform" }, var.labels)

  image = coalesce(var.image, "${var.region}-docker.pkg.dev/${var.project_id}/${var.name}/xprof-hub:latest")

  is_balanced = var.hub_domain != null
  has_iap     = var.auth == "iap"
  # Cloud Run's address of a service, known before the service is made.
  front_url = "https://${var.name}-front-${data.google_project.this.number}.${var.region}.run.app"
  base_url  = local.is_balanced ? "https://${var.hub_domain}" : local.front_url
  link_url  = local.is_balanced ? "https://${var.content_domain}" : local.base_url

  roots     = [for profile in values(var.profiles) : profile.root]
  scan      = var.scan_profiles && var.front.cpu_always
  protected = var.deletion_protection

  # What front ends, workers and jobs have in common.
  common_settings = {
    XPROF_HUB_ENVIRONMENT   = "production"
    XPROF_HUB_STORAGE_ROOTS = join(",", local.roots)
    XPROF_HUB_CACHE_ROOT    = "gs://${google_storage_bucket.cache.name}/artifacts"
    XPROF_HUB_UPLOAD_ROOT   = "gs://${google_storage_bucket.uploads.name}/profiles"
  }
  secret_settings = {
    XPROF_HUB_SECRET_KEY = google_secret_manager_secret_version.secret_key
    XPROF_HUB_REDIS_URL  = google_secret_manager_secret_version.redis_url
  }

  apis = toset([
    "artifactregistry.googleapis.com",
    "cloudscheduler.googleapis.com",
    "compute.googleapis.com",
    "dns.googleapis.com",
    "iam.googleapis.com",
    "iap.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "pubsub.googleapis.com",
    "redis.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "servicenetworking.googleapis.com",
    "sqladmin.googleapis.com",
    "storage.googleapis.com",
  ])
}

data "google_project" "this" {
  project_id = var.project_id
}

# They stay on when the hub goes: others in the project may need them.
resource "google_project_service" "this" {
  for_each           = local.apis
  project            = var.project_id
  service            = each.key
  disable_on_destroy = false
}

resource "google_artifact_registry_repository" "images" {
  project       = var.project_id
  location      = var.region
  repository_id = var.name
  description   = "Images of XProf Hub"
  format        = "DOCKER"
  labels        = local.labels
  depends_on    = [google_project_service.this]
}
