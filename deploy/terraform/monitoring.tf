# What is watched. Cloud Run logs each request with its address, and a share link's address is its permission: those
# logs are left out. The hub's own log has one line for each request, with the token redacted.

locals {
  front_service = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=\"${var.name}-front\""
  any_service   = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=~\"^${var.name}-\""
  any_job       = "resource.type=\"cloud_run_job\" AND resource.labels.job_name=~\"^${var.name}-\""
  # Each look wakes a front end, where none waits for requests.
  uptime_seconds = var.front.min_instances == 0 ? 900 : 60
  front_metric   = "${local.front_service} AND metric.type=\"run.googleapis.com/request_count\""
}

resource "google_logging_project_exclusion" "addresses" {
  project     = var.project_id
  name        = "${var.name}-addresses"
  description = "Request logs hold share links"
  filter      = "${local.front_service} AND log_id(\"run.googleapis.com/requests\")"
  depends_on  = [google_project_service.this]
}

resource "google_logging_metric" "memory_kills" {
  project     = var.project_id
  name        = "${var.name}-memory-kills"
  description = "Instances that Cloud Run ended because they used more memory than they have"
  filter      = "${local.any_service} AND severity>=ERROR AND textPayload=~\"[Mm]emory limit of .* exceeded|using too much memory\""

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
  }

  depends_on = [google_project_service.this]
}

# The hub writes its lines with Cloud Logging's field names.
resource "google_logging_metric" "errors" {
  project     = var.project_id
  name        = "${var.name}-errors"
  description = "Lines of front ends, workers and jobs that say that something is broken, by part"
  filter      = "((${local.any_service}) OR (${local.any_job})) AND severity>=ERROR AND jsonPayload.message:*"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
  }

  depends_on = [google_project_service.this]
}

# As somebody with a link would: the path answers on both host names without signing in, and asks the database, whose
# absence takes no front end away and stands in the words only.
resource "google_monitoring_uptime_check_config" "links" {
  project      = var.project_id
  display_name = "${var.name}: share links"
  timeout      = "10s"
  period       = "${local.uptime_seconds}s"
  user_labels  = local.labels

  http_check {
    path         = "/ready"
    port         = 443
    use_ssl      = true
    validate_ssl = true
  }

  content_matchers {
    content = "\"status\":\"ok\""
    matcher = "CONTAINS_STRING"
  }

  monitored_resource {
    type = "uptime_url"
    labels = {
      project_id = var.project_id
      host       = trimprefix(local.link_url, "https://")
    }
  }

  # Another host is another check, and Google deletes none that an alert asks for:
  # https://github.com/hashicorp/terraform-provider-google/issues/10176
  lifecycle {
    create_before_destroy = true
  }

  depends_on = [google_project_service.this]
}

resource "google_monitoring_custom_service" "hub" {
  project      = var.project_id
  service_id   = var.name
  display_name = "XProf Hub (${var.name})"
  user_labels  = local.labels
  depends_on   = [google_project_service.this]
}

resource "google_monitoring_slo" "availability" {
  project             = var.project_id
  service             = google_monitoring_custom_service.hub.service_id
  slo_id              = "availability"
  display_name        = "Requests answered without a server error"
  goal                = var.availability_goal
  rolling_period_days = 28
  user_labels         = local.labels

  request_based_sli {
    good_total_ratio {
      total_service_filter = local.front_metric
      bad_service_filter   = "${local.front_metric} AND metric.labels.response_code_class=\"5xx\""
    }
  }
}
