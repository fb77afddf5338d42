# Two host names before one service. The hub's may be behind IAP; the one of share links never is.

locals {
  iap_settings = local.has_iap ? {
    XPROF_HUB_IAP_AUDIENCE = "/projects/${data.google_project.this.number}/global/backendServices/${google_compute_backend_service.this["hub"].generated_id}"
  } : {}
  # The same front ends, with IAP before them (hub) and without (open).
  backends = !local.is_balanced ? {} : merge({ open = false }, local.has_iap ? { hub = true } : {})
  # Links of before lead to the other host name, for people without an account.
  past_iap = concat(["/s/*"], var.iap_covers_api ? [] : ["/v1/*", "/v1alpha/*", "/ingest/*"])
}

resource "google_compute_global_address" "balancer" {
  count      = local.is_balanced ? 1 : 0
  project    = var.project_id
  name       = var.name
  labels     = local.labels
  depends_on = [google_project_service.this]
}

resource "google_compute_region_network_endpoint_group" "front" {
  count                 = local.is_balanced ? 1 : 0
  project               = var.project_id
  name                  = "${var.name}-front"
  region                = var.region
  network_endpoint_type = "SERVERLESS"

  # By name: front ends are told the backend's number, so this can't wait for them.
  cloud_run {
    service = "${var.name}-front"
  }

  depends_on = [google_project_service.this]
}

resource "google_compute_backend_service" "this" {
  for_each              = local.backends
  project               = var.project_id
  name                  = "${var.name}-${each.key}"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  protocol              = "HTTPS"
  security_policy       = google_compute_security_policy.this[0].id

  backend {
    group = google_compute_region_network_endpoint_group.front[0].id
  }

  # A share link's address is its permission, so no log may hold it; the hub's own log has it redacted.
  log_config {
    enable = false
  }

  dynamic "iap" {
    for_each = each.value ? [true] : []
    content {
      enabled = true
    }
  }

  # When IAP is turned off its backend goes only after the URL map has let go of it: Google deletes none that is in use.
  lifecycle {
    create_before_destroy = true
  }
}

# Cloud Run asks no caller of front ends who he is; an organisation may have it ask all the same.
resource "google_cloud_run_v2_service_iam_member" "iap_calls_front" {
  count    = local.has_iap ? 1 : 0
  project  = var.project_id
  location = var.region
  name     = google_cloud_run_v2_service.front.name
  role     = "roles/run.invoker"
  member   = google_project_service_identity.agents["iap.googleapis.com"].member
}

resource "google_iap_web_backend_service_iam_member" "people" {
  for_each            = local.has_iap ? toset(var.iap_members) : toset([])
  project             = var.project_id
  web_backend_service = google_compute_backend_service.this["hub"].name
  role                = "roles/iap.httpsResourceAccessor"
  member              = each.key
}

resource "google_compute_security_policy" "this" {
  #checkov:skip=CKV_GCP_73:Nothing here runs Java, and profiles hold any text: rules that look for attacks would refuse uploads
  count       = local.is_balanced ? 1 : 0
  project     = var.project_id
  name        = var.name
  description = "Floods"

  rule {
    action      = "throttle"
    priority    = 1000
    description = "Requests of one address"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = var.requests_per_minute
        interval_sec = 60
      }
    }
  }

  rule {
    action      = "allow"
    priority    = 2147483647
    description = "Everything else"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }

  depends_on = [google_project_service.this]
}

resource "google_compute_url_map" "this" {
  count           = local.is_balanced ? 1 : 0
  project         = var.project_id
  name            = var.name
  default_service = google_compute_backend_service.this["open"].id

  host_rule {
    hosts        = [var.content_domain]
    path_matcher = "content"
  }

  path_matcher {
    name            = "content"
    default_service = google_compute_backend_service.this["open"].id
  }

  host_rule {
    hosts        = [var.hub_domain]
    path_matcher = "hub"
  }

  path_matcher {
    name            = "hub"
    default_service = google_compute_backend_service.this[local.has_iap ? "hub" : "open"].id

    dynamic "path_rule" {
      for_each = local.has_iap ? [local.past_iap] : []
      content {
        paths   = path_rule.value
        service = google_compute_backend_service.this["open"].id
      }
    }
  }
}

resource "google_compute_managed_ssl_certificate" "this" {
  count   = local.is_balanced ? 1 : 0
  project = var.project_id
  # Of the names, since a certificate can't be changed: the next one is there before this one goes.
  name = "${var.name}-${substr(sha256("${var.hub_domain} ${var.content_domain}"), 0, 8)}"

  managed {
    domains = [var.hub_domain, var.content_domain]
  }

  lifecycle {
    create_before_destroy = true
  }

  depends_on = [google_project_service.this]
}

resource "google_compute_ssl_policy" "this" {
  count           = local.is_balanced ? 1 : 0
  project         = var.project_id
  name            = var.name
  profile         = "MODERN"
  min_tls_version = "TLS_1_2"
  depends_on      = [google_project_service.this]
}

resource "google_compute_target_https_proxy" "this" {
  count            = local.is_balanced ? 1 : 0
  project          = var.project_id
  name             = var.name
  url_map          = google_compute_url_map.this[0].id
  ssl_certificates = [google_compute_managed_ssl_certificate.this[0].id]
  ssl_policy       = google_compute_ssl_policy.this[0].id
}

resource "google_compute_global_forwarding_rule" "https" {
  count                 = local.is_balanced ? 1 : 0
  project               = var.project_id
  name                  = "${var.name}-https"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.balancer[0].id
  port_range            = "443"
  target                = google_compute_target_https_proxy.this[0].id
  labels                = local.labels
}

# ---- http:// leads to https://
resource "google_compute_url_map" "redirect" {
  count      = local.is_balanced ? 1 : 0
  project    = var.project_id
  name       = "${var.name}-redirect"
  depends_on = [google_project_service.this]

  default_url_redirect {
    https_redirect         = true
    redirect_response_code = "MOVED_PERMANENTLY_DEFAULT"
    strip_query            = false
  }
}

resource "google_compute_target_http_proxy" "redirect" {
  count   = local.is_balanced ? 1 : 0
  project = var.project_id
  name    = "${var.name}-redirect"
  url_map = google_compute_url_map.redirect[0].id
}

resource "google_compute_global_forwarding_rule" "http" {
  count                 = local.is_balanced ? 1 : 0
  project               = var.project_id
  name                  = "${var.name}-http"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.balancer[0].id
  port_range            = "80"
  target                = google_compute_target_http_proxy.redirect[0].id
  labels                = local.labels
}
