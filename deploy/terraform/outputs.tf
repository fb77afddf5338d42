output "url" {
  description = "Where people sign in, and the API."
  value       = local.base_url
}

output "link_url" {
  description = "What share links begin with."
  value       = local.link_url
}

output "address" {
  description = "IPv4 address that both host names have to point to; null without a load balancer."
  value       = one(google_compute_global_address.balancer[*].address)
}

output "image_repository" {
  description = "Where the image is pushed to."
  value       = "${var.region}-docker.pkg.dev/${var.project_id}/${google_artifact_registry_repository.images.repository_id}"
}

output "service_accounts" {
  description = "E-mail of each part's service account."
  value       = { for part, account in google_service_account.this : part => account.email }
}

output "buckets" {
  description = "Buckets of artifacts (cache) and of uploaded profiles (uploads)."
  value       = { cache = google_storage_bucket.cache.name, uploads = google_storage_bucket.uploads.name }
}

output "services" {
  description = "Names of the Cloud Run services and jobs."
  value = {
    front   = google_cloud_run_v2_service.front.name
    workers = { for class, service in google_cloud_run_v2_service.workers : class => service.name }
    jobs    = { for task, job in google_cloud_run_v2_job.tasks : task => job.name }
  }
}

output "database" {
  description = "Connection name of the database, for the Cloud SQL Auth Proxy."
  value       = google_sql_database_instance.this.connection_name
}

output "network" {
  description = "Network and subnet of the services."
  value       = { network = google_compute_network.this.id, subnet = google_compute_subnetwork.this.id }
}
