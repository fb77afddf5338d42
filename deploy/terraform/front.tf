# Front ends answer people and programs. They keep nothing, and scale on requests in flight.

locals {
  front_settings = merge(
    local.service_settings,
    # A job migrates the database, before the first front end of a new image.
    {
      XPROF_HUB_BASE_URL             = local.base_url
      XPROF_HUB_AUTH                 = var.auth
      XPROF_HUB_DATABASE_URL         = local.database_urls.front
      XPROF_HUB_DATABASE_CONNECTIONS = tostring(var.front.database_connections)
      XPROF_HUB_MIGRATE              = "false"
      XPROF_HUB_WORKERS              = google_cloud_run_v2_service.workers["worker"].uri
      XPROF_HUB_WORKER_IDENTITY      = "google"
      XPROF_HUB_PREWARM              = tostring(var.front.cpu_always)
      XPROF_HUB_SCAN_SECONDS         = local.front_scan ? "60" : "0"
      XPROF_HUB_CACHE_BYTES          = format("%.0f", local.gib / 4)
    },
    local.is_balanced ? { XPROF_HUB_CONTENT_URL = local.link_url } : {},
    var.large_worker == null ? {} : { XPROF_HUB_LARGE_WORKERS = google_cloud_run_v2_service.workers["large-worker"].uri },
    local.front_scan ? { XPROF_HUB_SCAN_ROOTS = join(",", local.roots) } : {},
    length(var.admins) == 0 ? {} : { XPROF_HUB_ADMINS = join(",", var.admins) },
    local.notifies ? {
      XPROF_HUB_PUBSUB_AUDIENCE = local.push_endpoint
      XPROF_HUB_PUBSUB_ACCOUNT  = local.emails.push
    } : {},
    local.iap_settings,
    var.auth != "oidc" ? {} : {
      XPROF_HUB_OIDC_ISSUER       = var.oidc.issuer
      XPROF_HUB_OIDC_CLIENT_ID    = var.oidc.client_id
      XPROF_HUB_OIDC_SCOPES       = var.oidc.scopes
      XPROF_HUB_OIDC_GROUPS_CLAIM = var.oidc.groups_claim
    },
  )
  front_secrets = merge(
    local.service_secrets,
    var.auth != "oidc" ? {} : { XPROF_HUB_OIDC_CLIENT_SECRET = { secret = var.oidc.client_secret, version = var.oidc.client_secret_version } },
  )
  # Whose word on the caller's address counts: Cloud Run's own proxy and the load balancer. The last address in
  # X-Forwarded-For that is none of these is the caller's.
  proxies = concat(["169.254.0.0/16", "35.191.0.0/16", "130.211.0.0/22"], google_compute_global_address.balancer[*].address)
}

resource "google_cloud_run_v2_service" "front" {
  project             = var.project_id
  location            = var.region
  name                = "${var.name}-front"
  description         = "XProf Hub: links, pages and API"
  deletion_protection = local.protected
  labels              = local.labels
  ingress             = local.is_balanced ? "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER" : "INGRESS_TRAFFIC_ALL"
  # Share links are for people without an account at Google; the hub decides who may see what.
  invoker_iam_disabled = true

  template {
    service_account                  = google_service_account.this["front"].email
    execution_environment            = "EXECUTION_ENVIRONMENT_GEN2"
    max_instance_request_concurrency = var.front.concurrency
    timeout                          = "960s"
    labels                           = local.labels

    scaling {
      min_instance_count = var.front.min_instances
      max_instance_count = var.front.max_instances
    }

    vpc_access {
      egress = "ALL_TRAFFIC"
      network_interfaces {
        network    = google_compute_network.this.id
        subnetwork = google_compute_subnetwork.this.id
        tags       = [local.tags.front]
      }
    }

    containers {
      name       = "front"
      image      = local.image
      args       = ["serve", "--only", "front"]
      depends_on = ["database-proxy"]

      ports {
        container_port = 8080
      }

      resources {
        cpu_idle          = !var.front.cpu_always
        startup_cpu_boost = true
        limits            = { cpu = tostring(var.front.cpu), memory = "${var.front.memory_gib}Gi" }
      }

      # All parts have nearly the four minutes that Cloud Run allows: their way into the network may come up late.
      startup_probe {
        period_seconds    = 2
        timeout_seconds   = 2
        failure_threshold = 110
        http_get {
          path = "/ready"
          port = 8080
        }
      }

      liveness_probe {
        period_seconds    = 10
        timeout_seconds   = 5
        failure_threshold = 3
        http_get {
          path = "/health"
          port = 8080
        }
      }

      dynamic "env" {
        for_each = merge(var.settings, local.front_settings, { FORWARDED_ALLOW_IPS = join(",", local.proxies) })
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.front_secrets
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.value.secret
              version = env.value.version
            }
          }
        }
      }

      volume_mounts {
        name       = "redis-ca"
        mount_path = local.redis_ca_folder
      }
    }

    containers {
      name  = "database-proxy"
      image = var.proxy_image
      args  = concat(var.front.cpu_always ? [] : ["--lazy-refresh"], local.identity_arguments)

      resources {
        cpu_idle = !var.front.cpu_always
        limits   = local.sidecar_limits
      }

      startup_probe {
        period_seconds    = 1
        failure_threshold = 220
        http_get {
          path = "/startup"
          port = 9090
        }
      }
    }

    dynamic "containers" {
      for_each = var.metrics_image[*]
      content {
        name       = "metrics"
        image      = containers.value
        depends_on = ["front"]
        resources {
          cpu_idle = !var.front.cpu_always
          limits   = local.sidecar_limits
        }
        volume_mounts {
          name       = "metrics-config"
          mount_path = local.metrics_folder
        }
      }
    }

    volumes {
      name = "redis-ca"
      secret {
        secret = google_secret_manager_secret.this["redis-ca"].secret_id
        items {
          version = google_secret_manager_secret_version.redis_ca.version
          path    = basename(local.redis_ca_file)
        }
      }
    }

    dynamic "volumes" {
      for_each = google_secret_manager_secret_version.metrics_config
      content {
        name = "metrics-config"
        secret {
          secret = google_secret_manager_secret.this["metrics-config"].secret_id
          items {
            version = volumes.value.version
            path    = "config.yaml"
          }
        }
      }
    }
  }

  lifecycle {
    precondition {
      condition     = length(setintersection(keys(var.settings), keys(merge(local.front_settings, local.front_secrets)))) == 0
      error_message = "This module sets these itself, by variables of its own: ${join(", ", setintersection(keys(var.settings), keys(merge(local.front_settings, local.front_secrets))))}."
    }
  }

  depends_on = [
    google_cloud_run_v2_job.tasks,
    google_cloud_run_v2_service_iam_member.front_calls_workers,
    google_project_iam_member.database,
    google_secret_manager_secret_iam_member.readers,
    google_secret_manager_secret_iam_member.oidc,
    # The way to a provider, where there is one: made before, and gone after.
    google_compute_router_nat.this,
    google_compute_firewall.front_to_internet,
    google_storage_bucket_iam_member.own,
    google_storage_bucket_iam_member.profiles,
  ]
}
