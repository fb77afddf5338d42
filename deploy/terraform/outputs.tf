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

output "executions" {
  description = "Executions of jobs that terraform has run last, whose logs say what failed."
  value = {
    setup   = "${google_cloud_run_v2_job.setup.name}-${random_id.setup.hex}"
    migrate = "${google_cloud_run_v2_job.tasks["migrate"].name}-${random_id.migrate.hex}"
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

output "next_steps" {
  description = "What is left to do by hand, in order, after the last apply of an installation."
  value = concat(
    [for address in google_compute_global_address.balancer[*].address :
      "Let ${var.hub_domain} and ${var.content_domain} point to ${address} (A records); the certificate comes by itself within an hour."
    ],
    var.auth != "token" ? [] : [
      "Make the first admin's token: docker run --rm ${local.image} tokens prepare",
      "Register its digest: gcloud run jobs execute ${google_cloud_run_v2_job.tasks["prune"].name} --project=${var.project_id} --region=${var.region} --wait --container=prune --update-env-vars=\"HUB_COMMAND=tokens create first --local --role admin --digest DIGEST\"",
    ],
    var.auth == "token" || length(var.admins) > 0 ? [] : ["Name yourself in `admins`, and apply."],
    var.auth == "iap" && length(var.iap_members) == 0 ? ["Name in `iap_members` who may pass IAP, and apply."] : [],
    ["Open ${local.base_url}/."],
  )
}
