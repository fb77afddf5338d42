# Two host names, and who passes which of them.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
}

mock_provider "google-beta" {}


variables {
  project_id     = "example-project"
  region         = "us-central1"
  hub_domain     = "xprof.example.org"
  content_domain = "profiles.example.net"
}

run "behind_iap" {
  # Applied with made-up values, so that addresses that Google chooses are known.
  command = apply

  variables {
    auth        = "iap"
    iap_members = ["domain:example.org"]
    admins      = ["user:ann@example.org", "group:sre"]
    profiles = {
      training = { root = "gs://example-training/runs" }
      archive  = { root = "gs://example-archive", notify = false }
    }
  }

  override_resource {
    target = google_compute_backend_service.this
    values = { generated_id = 4242 }
  }

  override_resource {
    target = google_compute_global_address.balancer
    values = { address = "203.0.113.7" }
  }

  override_resource {
    target = google_redis_instance.this
    values = { host = "10.1.2.3", port = 6378, auth_string = "made-up", server_ca_certs = [{ cert = "PEM" }] }
  }

  override_resource {
    target = google_compute_global_address.private_services
    values = { address = "10.200.0.0" }
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_IAP_AUDIENCE"] == "/projects/123456789012/global/backendServices/4242"
    error_message = "Only assertions for this backend count."
  }

  assert {
    condition     = output.url == "https://xprof.example.org" && output.link_url == "https://profiles.example.net" && { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_CONTENT_URL"] == output.link_url
    error_message = "Links have a host name of their own."
  }

  assert {
    condition     = google_compute_backend_service.this["hub"].iap[0].enabled && length(google_compute_backend_service.this["open"].iap) == 0
    error_message = "IAP stands before one of the two backends."
  }

  assert {
    condition     = alltrue([for part in concat(values(google_compute_backend_service.this), google_compute_global_forwarding_rule.https, google_compute_global_forwarding_rule.http) : part.load_balancing_scheme == "EXTERNAL_MANAGED"])
    error_message = "All say which load balancer they are of: providers differ in what they take otherwise."
  }

  assert {
    condition     = { for matcher in google_compute_url_map.this[0].path_matcher : matcher.name => matcher.default_service } == { content = google_compute_backend_service.this["open"].id, hub = google_compute_backend_service.this["hub"].id }
    error_message = "Share links are reachable without an account; people come through IAP."
  }

  assert {
    condition     = one([for matcher in google_compute_url_map.this[0].path_matcher : one(matcher.path_rule).paths if matcher.name == "hub"]) == toset(["/ingest/*", "/s/*", "/v1/*", "/v1alpha/*"])
    error_message = "Past IAP go links that lead on, and what asks for an API token."
  }

  assert {
    condition     = keys(google_iap_web_backend_service_iam_member.people) == ["domain:example.org"]
    error_message = "Only those who are listed pass IAP."
  }

  assert {
    condition     = google_project_service_identity.agents["iap.googleapis.com"].service == "iap.googleapis.com" && google_cloud_run_v2_service_iam_member.iap_calls_front[0].member == google_project_service_identity.agents["iap.googleapis.com"].member && google_cloud_run_v2_service_iam_member.iap_calls_front[0].name == "xprof-hub-front" && google_cloud_run_v2_service_iam_member.iap_calls_front[0].role == "roles/run.invoker"
    error_message = "IAP answers nobody before its own account is there, by which it calls Cloud Run."
  }

  assert {
    condition     = output.next_steps == ["Let xprof.example.org and profiles.example.net point to 203.0.113.7 (A records); the certificate comes by itself within an hour.", "Open https://xprof.example.org/."]
    error_message = "What is left are the names."
  }

  assert {
    condition     = google_cloud_run_v2_service.front.ingress == "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"
    error_message = "Nobody comes past the load balancer."
  }

  assert {
    condition     = alltrue([for backend in google_compute_backend_service.this : backend.security_policy == google_compute_security_policy.this[0].id && !backend.log_config[0].enable])
    error_message = "Cloud Armor stands before both, and neither logs addresses."
  }

  assert {
    condition     = [for rule in google_compute_security_policy.this[0].rule : rule.priority if rule.action == "throttle"] == [1000]
    error_message = "Floods are slowed down, the rest passes."
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["FORWARDED_ALLOW_IPS"] == "169.254.0.0/16,35.191.0.0/16,130.211.0.0/22,203.0.113.7"
    error_message = "Only Google's proxies may say who calls."
  }

  assert {
    condition     = google_secret_manager_secret_version.redis_url.secret_data == "rediss://:made-up@10.1.2.3:6378/0?ssl_ca_certs=/etc/xprof-hub/redis/ca.pem&ssl_check_hostname=false"
    error_message = "Redis is asked through TLS, and its certificate checked."
  }

  assert {
    condition     = google_compute_managed_ssl_certificate.this[0].managed[0].domains == tolist(["xprof.example.org", "profiles.example.net"]) && google_compute_ssl_policy.this[0].min_tls_version == "TLS_1_2"
    error_message = "One certificate for both names."
  }

  assert {
    condition     = google_compute_firewall.egress["redis"].destination_ranges == toset(["10.200.0.0/20"]) && length(google_compute_firewall.front_to_internet) == 0
    error_message = "IAP's keys are reached by a private address."
  }

  # ---- profiles
  assert {
    condition     = alltrue([for grant in google_storage_bucket_iam_member.profiles : grant.role == "roles/storage.objectViewer"]) && toset(keys(google_storage_bucket_iam_member.profiles)) == toset(["training front", "training worker", "archive front", "archive worker"])
    error_message = "Front ends and workers may read the profiles, and only read."
  }

  assert {
    condition     = google_storage_bucket_iam_member.profiles["training worker"].condition[0].expression == "resource.name.startsWith('projects/_/buckets/example-training/objects/runs/') || api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('runs/')" && length(google_storage_bucket_iam_member.profiles["archive worker"].condition) == 0
    error_message = "A prefix is all that is read of its bucket."
  }

  assert {
    condition     = keys(google_storage_notification.profiles) == ["training"] && google_storage_notification.profiles["training"].object_name_prefix == "runs/" && google_storage_notification.profiles["training"].event_types == toset(["OBJECT_FINALIZE"])
    error_message = "Buckets tell of new files, unless they shall not."
  }

  assert {
    condition = (
      google_pubsub_subscription.push[0].push_config[0].push_endpoint == "https://xprof-hub-front-123456789012.us-central1.run.app/v1/notifications:push"
      && google_pubsub_subscription.push[0].push_config[0].oidc_token[0].audience == { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_PUBSUB_AUDIENCE"]
      && { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_PUBSUB_ACCOUNT"] == "xprof-hub-push@example-project.iam.gserviceaccount.com"
    )
    error_message = "Front ends take the pushes that this subscription signs, by the one address that works within VPC Service Controls."
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_STORAGE_ROOTS"] == "gs://example-archive,gs://example-training/runs" && { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_ADMINS"] == "user:ann@example.org,group:sre"
    error_message = "Lists are separated by commas."
  }
}

run "with_a_provider" {
  command = plan

  variables {
    auth            = "oidc"
    profiles        = { training = { root = "gs://example-training/runs" } }
    oidc            = { issuer = "https://login.example.org", client_id = "hub", client_secret = "hub-oidc", client_secret_version = "3" }
    restricted_apis = true
    large_worker    = null
    metrics_image   = null
    front           = { cpu_always = false, min_instances = 0 }
  }

  assert {
    condition     = [for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.value_source[0].secret_key_ref[0].version if env.name == "XPROF_HUB_OIDC_CLIENT_SECRET"] == ["3"]
    error_message = "The client's secret comes from Secret Manager, in the version that is named."
  }

  assert {
    condition     = !contains(keys(google_compute_backend_service.this), "hub") && alltrue([for matcher in google_compute_url_map.this[0].path_matcher : length(matcher.path_rule) == 0])
    error_message = "Without IAP there is one way in."
  }

  assert {
    condition     = google_compute_firewall.front_to_internet[0].target_tags == toset(["xprof-hub-front"]) && google_compute_firewall.front_to_internet[0].allow == toset([{ protocol = "tcp", ports = tolist(["443"]) }])
    error_message = "Front ends, and nobody else, reach the provider."
  }

  assert {
    condition     = toset(google_dns_record_set.apis["googleapis"].rrdatas) == toset(["199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7"])
    error_message = "VPC Service Controls guard other addresses."
  }

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value if contains(["XPROF_HUB_PREWARM", "XPROF_HUB_SCAN_SECONDS"], env.name) } == { XPROF_HUB_PREWARM = "false", XPROF_HUB_SCAN_SECONDS = "0" }
    error_message = "Without CPU between requests nothing is done in the background."
  }

  assert {
    condition = (
      { for task, job in google_cloud_scheduler_job.this : task => job.schedule } == { prune = "17 3 * * *", scan = "*/15 * * * *" }
      && keys(google_cloud_run_v2_job_iam_member.scheduler) == ["prune", "scan"]
      && { for env in google_cloud_run_v2_job.tasks["scan"].template[0].template[0].containers[0].env : env.name => env.value if contains(["HUB_COMMAND", "XPROF_HUB_SCAN_ROOTS"], env.name) } == { HUB_COMMAND = "scan --json", XPROF_HUB_SCAN_ROOTS = "gs://example-training/runs" }
    )
    error_message = "A job looks for new sessions instead."
  }

  assert {
    condition     = google_storage_bucket_iam_member.profiles["training jobs"].role == "roles/storage.objectViewer"
    error_message = "So it may read the profiles."
  }

  assert {
    condition     = google_cloud_run_v2_service.front.template[0].containers[1].args[0] == "--lazy-refresh" && google_cloud_run_v2_service.front.template[0].containers[1].resources[0].cpu_idle
    error_message = "Nor by the proxy, which renews its certificate when somebody needs it."
  }

  assert {
    condition     = keys(google_cloud_run_v2_service.workers) == ["worker"] && !contains(google_cloud_run_v2_service.front.template[0].containers[0].env[*].name, "XPROF_HUB_LARGE_WORKERS")
    error_message = "Large workers are left out when they are not wanted."
  }

  assert {
    condition     = length(google_cloud_run_v2_service.front.template[0].containers) == 2 && keys(google_monitoring_alert_policy.queries) == ["memory_kills"] && contains(keys(google_monitoring_alert_policy.thresholds), "slow")
    error_message = "Without the sidecar there are no alerts that nothing would feed; Cloud Run's own log feeds one."
  }
}
