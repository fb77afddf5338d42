# Workers convert. They are reached from the network only, where Cloud Run lets in front ends, by their account, and a
# worker whoever knows the secret key.

locals {
  worker_classes = merge({ worker = var.worker }, var.large_worker == null ? {} : { "large-worker" = var.large_worker })
  gib            = pow(2, 30)
  # Where the sidecar looks for its configuration.
  metrics_folder = "/etc/rungmp"
  has_metrics    = { for class, size in local.worker_classes : class => var.metrics_image != null && size.cpu < local.most_cpus }

  # Disk is memory on Cloud Run: what downloads, results and the worker itself take is not for conversions.
  container_gib = { for class, size in local.worker_classes : class => size.memory_gib - (local.has_metrics[class] ? local.sidecar_gib : 0) }
  worker_memory = { for class, size in local.worker_classes : class => (local.container_gib[class] - size.scratch_gib - size.results_gib - 1) * local.gib }
  worker_settings = {
    for class, size in local.worker_classes : class => merge(local.service_settings, {
      XPROF_HUB_SANDBOX                 = var.sandbox
      XPROF_HUB_CONVERSIONS             = tostring(size.conversions)
      XPROF_HUB_MEMORY_BYTES            = format("%.0f", local.worker_memory[class])
      XPROF_HUB_CONVERSION_MEMORY_BYTES = format("%.0f", local.worker_memory[class])
      XPROF_HUB_SCRATCH_BYTES           = format("%.0f", size.scratch_gib * local.gib)
      XPROF_HUB_CACHE_BYTES             = format("%.0f", size.results_gib * local.gib)
    })
  }
}

resource "google_cloud_run_v2_service" "workers" {
  for_each    = local.worker_classes
  project     = var.project_id
  location    = var.region
  name        = "${var.name}-${each.key}"
  description = "XProf Hub: converts profiles"
  # They keep nothing, and a class of them may be given up while the rest is protected.
  deletion_protection = false
  labels              = local.labels
  ingress             = "INGRESS_TRAFFIC_INTERNAL_ONLY"

  template {
    service_account                  = google_service_account.this["worker"].email
    execution_environment            = "EXECUTION_ENVIRONMENT_GEN2"
    max_instance_request_concurrency = each.value.conversions
    # Longer than a front end waits.
    timeout = "960s"
    labels  = local.labels

    scaling {
      min_instance_count = each.value.min_instances
      max_instance_count = each.value.max_instances
    }

    vpc_access {
      egress = "ALL_TRAFFIC"
      network_interfaces {
        network    = google_compute_network.this.id
        subnetwork = google_compute_subnetwork.this.id
        tags       = [local.tags.worker]
      }
    }

    containers {
      name  = "worker"
      image = local.image
      args  = ["serve", "--only", "worker"]

      ports {
        container_port = 8080
      }

      # A conversion that somebody waits for goes on when he has gone: it is asked for again.
      resources {
        cpu_idle          = false
        startup_cpu_boost = true
        limits            = { cpu = tostring(each.value.cpu), memory = "${local.container_gib[each.key] * 1024}Mi" }
      }

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
        for_each = merge(var.settings, local.worker_settings[each.key])
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.service_secrets
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

    dynamic "containers" {
      for_each = local.has_metrics[each.key] ? [var.metrics_image] : []
      content {
        name       = "metrics"
        image      = containers.value
        depends_on = ["worker"]
        resources {
          cpu_idle = false
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
      for_each = local.has_metrics[each.key] ? google_secret_manager_secret_version.metrics_config : []
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
      condition     = length(setintersection(keys(var.settings), keys(local.worker_settings[each.key]))) == 0
      error_message = "This module sets these itself, by variables of its own: ${join(", ", setintersection(keys(var.settings), keys(local.worker_settings[each.key])))}."
    }
  }

  depends_on = [
    google_secret_manager_secret_iam_member.readers,
    google_storage_bucket_iam_member.own,
    google_compute_firewall.egress,
    google_dns_record_set.apis,
    google_dns_record_set.api_names,
  ]
}

resource "google_cloud_run_v2_service_iam_member" "front_calls_workers" {
  for_each = google_cloud_run_v2_service.workers
  project  = var.project_id
  location = var.region
  name     = each.value.name
  role     = "roles/run.invoker"
  member   = google_service_account.this["front"].member
}
