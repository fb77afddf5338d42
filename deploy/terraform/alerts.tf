# Alerts, each with what to do; what they ask stands in alert_rules.tf.

resource "google_monitoring_alert_policy" "thresholds" {
  for_each              = local.threshold_alerts
  project               = var.project_id
  display_name          = "${var.name}: ${each.value.title}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = each.value.title
    condition_threshold {
      filter             = each.value.filter
      denominator_filter = each.value.denominator
      comparison         = each.value.below ? "COMPARISON_LT" : "COMPARISON_GT"
      threshold_value    = each.value.limit
      duration           = each.value.duration

      dynamic "aggregations" {
        for_each = each.value.aligner == null ? [] : [each.value]
        content {
          alignment_period     = "300s"
          per_series_aligner   = aggregations.value.aligner
          cross_series_reducer = aggregations.value.reducer
        }
      }

      dynamic "denominator_aggregations" {
        for_each = each.value.denominator == null ? [] : [each.value]
        content {
          alignment_period     = "300s"
          per_series_aligner   = denominator_aggregations.value.aligner
          cross_series_reducer = denominator_aggregations.value.reducer
        }
      }
    }
  }

  documentation {
    subject = "${var.name}: ${each.value.title}"
    content = each.value.runbook
  }
}

resource "google_monitoring_alert_policy" "queries" {
  for_each              = local.query_alerts
  project               = var.project_id
  display_name          = "${var.name}: ${each.value.title}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = each.value.title
    condition_prometheus_query_language {
      query               = each.value.query
      duration            = each.value.duration
      evaluation_interval = "60s"
      # The metrics are there only once the hub has run.
      disable_metric_validation = true
    }
  }

  documentation {
    subject = "${var.name}: ${each.value.title}"
    content = each.value.runbook
  }
}

resource "google_monitoring_alert_policy" "outside" {
  project               = var.project_id
  display_name          = "${var.name}: Links don't open, or the certificate ends"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = "Links don't open"
    condition_threshold {
      filter          = "resource.type=\"uptime_url\" AND metric.type=\"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id=\"${google_monitoring_uptime_check_config.links.uptime_check_id}\""
      comparison      = "COMPARISON_LT"
      threshold_value = 0.5
      duration        = "120s"
      aggregations {
        alignment_period     = "${2 * local.uptime_seconds}s"
        per_series_aligner   = "ALIGN_FRACTION_TRUE"
        cross_series_reducer = "REDUCE_MEAN"
      }
    }
  }

  conditions {
    display_name = "The certificate ends within 15 days"
    condition_threshold {
      filter          = "resource.type=\"uptime_url\" AND metric.type=\"monitoring.googleapis.com/uptime_check/time_until_ssl_cert_expires\" AND metric.labels.check_id=\"${google_monitoring_uptime_check_config.links.uptime_check_id}\""
      comparison      = "COMPARISON_LT"
      threshold_value = 15
      duration        = "600s"
      aggregations {
        alignment_period     = "1200s"
        per_series_aligner   = "ALIGN_NEXT_OLDER"
        cross_series_reducer = "REDUCE_MIN"
      }
    }
  }

  documentation {
    subject = "${var.name}: Links don't open, or the certificate ends"
    content = "Does the host name still point to the address of the load balancer (`terraform output address`)? Google renews the certificate only as long as it does. Are there front ends: `gcloud run services describe ${var.name}-front --region=${var.region}`."
  }
}
