# One service account for each part, with what that part needs. Rights on buckets, secrets and jobs are given
# beside those; here are the accounts and what only a project can give.

locals {
  accounts = {
    front     = "XProf Hub: front ends"
    worker    = "XProf Hub: workers"
    jobs      = "XProf Hub: deletes what is due, looks for sessions"
    migrate   = "XProf Hub: brings the database up to date"
    setup     = "XProf Hub: makes roles in the database"
    push      = "XProf Hub: signs notifications of buckets"
    scheduler = "XProf Hub: starts jobs"
  }
  # Known before the accounts are made, so that plans show them.
  emails = { for part, _ in local.accounts : part => "${var.name}-${part}@${var.project_id}.iam.gserviceaccount.com" }

  # The second role is for signing in with an identity; the setup job has a password.
  database_grants = merge(
    { for part in setunion(local.database_parts, ["setup"]) : "${part} client" => { part = part, role = "roles/cloudsql.client" } },
    { for part in local.database_parts : "${part} user" => { part = part, role = "roles/cloudsql.instanceUser" } },
  )
  database_parts = toset(["front", "jobs", "migrate"])
  this_database  = "resource.service == 'sqladmin.googleapis.com' && resource.name == 'projects/${var.project_id}/instances/${google_sql_database_instance.this.name}'"
}

resource "google_service_account" "this" {
  for_each     = local.accounts
  project      = var.project_id
  account_id   = "${var.name}-${each.key}"
  display_name = each.value
  depends_on   = [google_project_service.this]
}

resource "google_project_iam_member" "database" {
  for_each = local.database_grants
  project  = var.project_id
  role     = each.value.role
  member   = google_service_account.this[each.value.part].member

  condition {
    title      = "the-hub-s-database"
    expression = local.this_database
  }
}

resource "google_project_iam_member" "metrics" {
  for_each = var.metrics_image == null ? toset([]) : toset(["front", "worker"])
  project  = var.project_id
  role     = "roles/monitoring.metricWriter"
  member   = google_service_account.this[each.key].member
}
