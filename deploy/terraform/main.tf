# What all files share: names, addresses, settings, and the APIs that the module needs.

locals {
  labels = merge({ app = var.name, "managed-by" = "terraform" }, var.labels)

  # By digest in any case: what runs is what was tried, and a new one is noticed, so that the database is migrated.
  image = coalesce(var.image, one(data.google_artifact_registry_docker_image.latest[*].self_link))

  is_balanced = var.hub_domain != null
  has_iap     = var.auth == "iap"
  # Cloud Run's address of a service, known before the service is made.
  front_url = "https://${var.name}-front-${data.google_project.this.number}.${var.region}.run.app"
  base_url  = local.is_balanced ? "https://${var.hub_domain}" : local.front_url
  link_url  = local.is_balanced ? "https://${var.content_domain}" : local.base_url

  roots     = [for profile in values(var.profiles) : profile.root]
  protected = var.deletion_protection

  # Who looks for new sessions: front ends, or a job where they have no CPU between requests.
  scans      = var.scan_profiles && length(local.roots) > 0
  front_scan = local.scans && var.front.cpu_always
  job_scan   = local.scans && !var.front.cpu_always

  # What front ends, workers and jobs have in common.
  common_settings = {
    XPROF_HUB_ENVIRONMENT    = "production"
    XPROF_HUB_STORAGE_ROOTS  = join(",", local.roots)
    XPROF_HUB_CACHE_ROOT     = "gs://${google_storage_bucket.cache.name}/artifacts"
    XPROF_HUB_UPLOAD_ROOT    = "gs://${google_storage_bucket.uploads.name}/profiles"
    XPROF_HUB_GOOGLE_PROJECT = var.project_id
  }
  # What front ends and workers have, beside that.
  service_settings = merge(local.common_settings, {
    # Cloud Run kills ten seconds after it has told an instance to end; a worker takes three more than this.
    XPROF_HUB_STOP_SECONDS = "6"
    # Google's proxies keep connections for ten minutes.
    XPROF_HUB_KEEP_ALIVE_SECONDS = "620"
    # Cloud Run lets nobody in by this port.
    XPROF_HUB_METRICS_PORT = tostring(local.metrics_port)
  })
  metrics_port = 9464
  # Cloud Run takes no container with less memory than this in its second generation. An instance has 8 CPUs at most,
  # all its containers together, so there is no room for another one beside 8. It counts CPUs of all containers together
  # ("Total cpu ..."), so that memory of all together should fit those of the first, too: 4 GiB for each CPU at most.
  sidecar_gib    = 0.5
  sidecar_limits = { cpu = "500m", memory = "${local.sidecar_gib * 1024}Mi" }
  most_cpus      = 8

  apis = toset([
    "artifactregistry.googleapis.com",
    "cloudkms.googleapis.com",
    "cloudresourcemanager.googleapis.com",
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
    "serviceusage.googleapis.com",
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
  kms_key_name  = var.kms_key
  labels        = local.labels
  depends_on    = [google_project_service.this, google_kms_crypto_key_iam_member.agents]
}

data "google_artifact_registry_docker_image" "latest" {
  count         = var.image == null ? 1 : 0
  project       = var.project_id
  location      = var.region
  repository_id = google_artifact_registry_repository.images.repository_id
  image_name    = "xprof-hub:latest"
}
