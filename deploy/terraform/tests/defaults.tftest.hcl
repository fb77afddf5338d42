# What a hub is with nothing but a project and a region.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
}

mock_provider "google-beta" {}

variables {
  project_id = "example-project"
  region     = "europe-west4"
}

run "defaults" {
  command = plan

  assert {
    condition     = output.url == "https://xprof-hub-front-123456789012.europe-west4.run.app" && output.link_url == output.url
    error_message = "Without a domain the hub has Cloud Run's own address."
  }

  assert {
    condition     = length(google_compute_global_forwarding_rule.https) == 0 && google_cloud_run_v2_service.front.ingress == "INGRESS_TRAFFIC_ALL"
    error_message = "Without a domain there is no load balancer, so people reach the service itself."
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_AUTH"] == "token"
    error_message = "People sign in with API tokens unless something else is said."
  }

  assert {
    condition     = !contains(google_cloud_run_v2_service.front.template[0].containers[0].env[*].name, "XPROF_HUB_CONTENT_URL")
    error_message = "One host name can't be two."
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_DATABASE_URL"] == "postgresql+psycopg://xprof-hub-front%40example-project.iam@127.0.0.1:5432/xprof_hub?options=-c%20role%3Dxprof_hub"
    error_message = "Front ends sign in to the database with their identity and act as the role that owns the tables."
  }

  assert {
    condition     = google_cloud_run_v2_service.front.template[0].containers[0].liveness_probe[0].http_get[0].path == "/health" && google_cloud_run_v2_service.front.template[0].containers[0].startup_probe[0].http_get[0].path == "/ready"
    error_message = "Liveness touches nothing else; readiness asks the database."
  }

  assert {
    condition     = google_cloud_run_v2_service.front.deletion_protection && alltrue([for service in values(google_cloud_run_v2_service.workers) : !service.deletion_protection]) && alltrue([for service in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : service.template[0].execution_environment == "EXECUTION_ENVIRONMENT_GEN2" && service.template[0].vpc_access[0].egress == "ALL_TRAFFIC"])
    error_message = "Services can't be deleted by accident, run where the sandbox can hold, and send everything through the network."
  }

  # ---- workers

  assert {
    condition     = toset(keys(google_cloud_run_v2_service.workers)) == toset(["worker", "large-worker"])
    error_message = "There are workers of two sizes."
  }

  assert {
    condition     = alltrue([for worker in google_cloud_run_v2_service.workers : worker.ingress == "INGRESS_TRAFFIC_INTERNAL_ONLY" && worker.template[0].containers[0].resources[0].cpu_idle == false])
    error_message = "Workers are reached from the network only and have CPU all the time."
  }

  # 16 GiB, of them 3 for downloads, 1 for results, 1 for the worker itself: 11 GiB.
  assert {
    condition     = { for env in google_cloud_run_v2_service.workers["worker"].template[0].containers[0].env : env.name => env.value }["XPROF_HUB_MEMORY_BYTES"] == "11274289152"
    error_message = "Conversions get what disk, which is memory, leaves."
  }

  # 32 GiB, of them 4, 1 and 1: 26 GiB.
  assert {
    condition     = { for env in google_cloud_run_v2_service.workers["large-worker"].template[0].containers[0].env : env.name => env.value }["XPROF_HUB_CONVERSION_MEMORY_BYTES"] == "27917287424"
    error_message = "One conversion may take all that conversions have."
  }

  assert {
    condition     = alltrue([for class, conversions in { "worker" = 2, "large-worker" = 1 } : google_cloud_run_v2_service.workers[class].template[0].max_instance_request_concurrency == conversions && { for env in google_cloud_run_v2_service.workers[class].template[0].containers[0].env : env.name => env.value }["XPROF_HUB_CONVERSIONS"] == tostring(conversions)])
    error_message = "Cloud Run lets in as many requests as a worker converts at once."
  }

  assert {
    condition     = alltrue([for worker in google_cloud_run_v2_service.workers : !contains(worker.template[0].containers[0].env[*].name, "XPROF_HUB_DATABASE_URL")])
    error_message = "Workers have no database."
  }

  # ---- data

  assert {
    condition     = google_sql_database_instance.this.deletion_protection && google_sql_database_instance.this.settings[0].deletion_protection_enabled && !google_sql_database_instance.this.settings[0].ip_configuration[0].ipv4_enabled && google_sql_database_instance.this.settings[0].ip_configuration[0].ssl_mode == "TRUSTED_CLIENT_CERTIFICATE_REQUIRED"
    error_message = "The database is protected, private and encrypted, and nobody comes without a certificate."
  }

  assert {
    condition     = google_sql_database_instance.this.settings[0].backup_configuration[0].enabled && google_sql_database_instance.this.settings[0].backup_configuration[0].point_in_time_recovery_enabled && { for flag in google_sql_database_instance.this.settings[0].database_flags : flag.name => flag.value }["cloudsql.iam_authentication"] == "on"
    error_message = "It is backed up to any moment, and people and parts sign in with their identity."
  }

  # 30 for each of 5 front ends, of two revisions, and 25 for jobs and people.
  assert {
    condition     = { for flag in google_sql_database_instance.this.settings[0].database_flags : flag.name => flag.value }["max_connections"] == "325"
    error_message = "It lets in all that front ends may open."
  }

  assert {
    condition     = toset([for user in google_sql_user.parts : user.name]) == toset(["xprof-hub-front@example-project.iam", "xprof-hub-jobs@example-project.iam", "xprof-hub-migrate@example-project.iam"]) && alltrue([for user in google_sql_user.parts : user.type == "CLOUD_IAM_SERVICE_ACCOUNT"])
    error_message = "Front ends and jobs are its users, workers are not."
  }

  assert {
    condition     = google_redis_instance.this.auth_enabled && google_redis_instance.this.transit_encryption_mode == "SERVER_AUTHENTICATION" && google_redis_instance.this.connect_mode == "PRIVATE_SERVICE_ACCESS" && google_redis_instance.this.redis_configs["maxmemory-policy"] == "volatile-lru"
    error_message = "Redis has a password and TLS, is private, and forgets what expires."
  }

  assert {
    condition     = alltrue([for bucket in [google_storage_bucket.cache, google_storage_bucket.uploads] : bucket.uniform_bucket_level_access && bucket.public_access_prevention == "enforced"])
    error_message = "Buckets are never public."
  }

  assert {
    condition     = contains([for rule in google_storage_bucket.cache.lifecycle_rule : one(rule.condition).age if one(rule.action).type == "Delete"], 30) && google_storage_bucket.uploads.soft_delete_policy[0].retention_duration_seconds == 604800 && !google_storage_bucket.uploads.force_destroy
    error_message = "Artifacts go after 30 days; uploads can be brought back for 7 and are not emptied by terraform."
  }

  assert {
    condition     = { for key, grant in google_storage_bucket_iam_member.own : key => grant.role } == { "cache worker" = "roles/storage.objectUser", "cache jobs" = "roles/storage.objectUser", "uploads front" = "roles/storage.objectUser", "uploads worker" = "roles/storage.objectViewer" }
    error_message = "Each part has the rights on our buckets that it needs."
  }

  assert {
    condition     = length(google_storage_bucket_iam_member.profiles) == 0 && length(google_pubsub_topic.profiles) == 0
    error_message = "Nothing is read that is not listed."
  }

  # ---- safety

  assert {
    condition     = toset([for key, _ in google_secret_manager_secret_iam_member.readers : key if startswith(key, "database-password")]) == toset(["database-password setup"])
    error_message = "Only the setup job reads the database's password."
  }

  assert {
    condition     = google_compute_firewall.deny_egress.destination_ranges == toset(["0.0.0.0/0"]) && google_compute_firewall.deny_egress.priority > max(values(google_compute_firewall.egress)[*].priority...) && length(google_compute_firewall.front_to_internet) == 0
    error_message = "What is not allowed is denied, and nothing is allowed to the internet."
  }

  assert {
    condition     = google_compute_firewall.egress["proxy"].target_tags == toset(["xprof-hub-front", "xprof-hub-jobs", "xprof-hub-migrate", "xprof-hub-setup"]) && toset(flatten([for rule in google_compute_firewall.egress : [for allowed in rule.allow : allowed.ports]])) == toset(["443", "6378", "3307"])
    error_message = "Workers can't reach the database, and others only through their proxies."
  }

  assert {
    condition     = alltrue([for address in google_dns_record_set.apis : toset(address.rrdatas) == toset(["199.36.153.8", "199.36.153.9", "199.36.153.10", "199.36.153.11"])])
    error_message = "Google's APIs are reached by their private addresses."
  }

  assert {
    condition     = strcontains(google_logging_project_exclusion.addresses.filter, "run.googleapis.com/requests")
    error_message = "No log holds the addresses of share links."
  }

  assert {
    condition     = alltrue([for labels in [google_cloud_run_v2_service.front.labels, google_cloud_run_v2_job.tasks["prune"].labels, google_storage_bucket.cache.labels, google_storage_bucket.uploads.labels, google_redis_instance.this.labels, google_sql_database_instance.this.settings[0].user_labels, google_secret_manager_secret.this["secret-key"].labels, google_artifact_registry_repository.images.labels] : labels == tomap({ app = "xprof-hub", "managed-by" = "terraform" })])
    error_message = "Everything has labels."
  }

  assert {
    condition     = { for task, job in google_cloud_scheduler_job.this : task => job.schedule } == { prune = "17 3 * * *" } && endswith(google_cloud_scheduler_job.this["prune"].http_target[0].uri, "/jobs/xprof-hub-prune:run")
    error_message = "What is due is deleted once a day; front ends look for sessions themselves."
  }

  assert {
    condition     = google_monitoring_uptime_check_config.links.http_check[0].path == "/ready" && google_monitoring_uptime_check_config.links.http_check[0].validate_ssl && google_monitoring_uptime_check_config.links.period == "60s" && google_monitoring_slo.availability.goal == 0.995
    error_message = "Somebody looks from outside each minute, and there is a goal."
  }

  assert {
    condition     = [for matcher in google_monitoring_uptime_check_config.links.content_matchers : [matcher.matcher, matcher.content]] == [["CONTAINS_STRING", "\"status\":\"ok\""]]
    error_message = "A front end without a database answers 200 and is seen to lack it."
  }

  assert {
    condition = toset(concat(keys(google_monitoring_alert_policy.thresholds), keys(google_monitoring_alert_policy.queries))) == toset([
      "errors", "memory_kills", "database_down", "database_cpu", "database_disk", "database_connections", "redis_memory", "jobs_failed", "burn_rate",
      "first_byte", "queue", "hit_rate", "redis_failed", "workers_failed", "disk_full", "lost_registrations",
    ])
    error_message = "What people get, what conversions wait for, what the cache gives, and what everything stands on is watched."
  }

  assert {
    condition     = alltrue([for alert in google_monitoring_alert_policy.queries : length(regexall("\\bxprof_hub_", alert.conditions[0].condition_prometheus_query_language[0].query)) == length(regexall("job=\"xprof-hub\"", alert.conditions[0].condition_prometheus_query_language[0].query))])
    error_message = "Another hub of the project is not asked after."
  }

  assert {
    condition     = !contains(keys(google_monitoring_alert_policy.thresholds), "memory_kills") && strcontains(google_monitoring_alert_policy.queries["memory_kills"].conditions[0].condition_prometheus_query_language[0].query, "logging_googleapis_com:user_xprof_hub_memory_kills{") && google_monitoring_alert_policy.queries["memory_kills"].conditions[0].condition_prometheus_query_language[0].disable_metric_validation
    error_message = "Metrics of the log are there minutes after they were made: only a query may ask for one that is not."
  }

  assert {
    condition     = [for condition in google_monitoring_alert_policy.thresholds["database_down"].conditions : condition.condition_threshold[0].comparison] == ["COMPARISON_LT"] && alltrue([for key, alert in google_monitoring_alert_policy.thresholds : alert.conditions[0].condition_threshold[0].comparison == "COMPARISON_GT" || key == "database_down"])
    error_message = "A database that is up is 1, all else is too much above a limit."
  }

  assert {
    condition     = strcontains(google_logging_metric.errors.filter, "severity>=ERROR AND jsonPayload.message:*") && length(regexall(trimsuffix(split("textPayload=~\"", google_logging_metric.memory_kills.filter)[1], "\""), "Memory limit of 16384 MiB exceeded with 16768 MiB used. the container instance was found to be using too much memory and was terminated.")) == 2
    error_message = "What the hub says is counted, and what Cloud Run says of it."
  }

  assert {
    condition     = alltrue([for alert in concat(values(google_monitoring_alert_policy.thresholds), values(google_monitoring_alert_policy.queries), [google_monitoring_alert_policy.outside]) : length(alert.documentation[0].content) > 40])
    error_message = "Every alert says what to do."
  }
}
