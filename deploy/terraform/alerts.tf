# Alerts, each with what to do. Those on the hub's own metrics need the sidecar that hands them on.

locals {
  minutes = { for count in [5, 10, 15] : count => "${count * 60}s" }

  # On what Google measures: greater than the limit for so long.
  threshold_alerts = {
    errors = {
      title       = "Front ends answer with server errors", severity = "CRITICAL", limit = 0.02, duration = local.minutes[5]
      filter      = "${local.front_metric} AND metric.labels.response_code_class=\"5xx\""
      denominator = local.front_metric
      aligner     = "ALIGN_RATE", reducer = "REDUCE_SUM"
      runbook     = "More than 2% of the requests fail. Look for `\"level\": \"error\"` in the log of the front ends. 503: workers are busy or a bucket does not answer. 504: conversions take longer than front ends wait. 500 since a new revision: send the traffic back to the one before."
    }
    slow = {
      title       = "Front ends are slow", severity = "WARNING", limit = var.slow_seconds * 1000, duration = local.minutes[15]
      filter      = "${local.front_service} AND metric.type=\"run.googleapis.com/request_latencies\""
      denominator = null
      aligner     = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_95"
      runbook     = "One request in twenty takes longer than `slow_seconds`. Look at the queue of conversions and the hit rate on the dashboard: many people before new profiles need more workers (`worker.max_instances`); the same profiles again and again need more Redis (`redis.memory_gb`)."
    }
    memory_kills = {
      title       = "Instances run out of memory", severity = "WARNING", limit = 0, duration = "0s"
      filter      = "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${google_logging_metric.memory_kills.name}\""
      denominator = null
      aligner     = "ALIGN_DELTA", reducer = "REDUCE_SUM"
      runbook     = "Cloud Run has ended an instance; its conversions begin anew elsewhere. Find the service in the log. Worker: take fewer `conversions` or `scratch_gib`, or give it more memory. Front end: less `concurrency` or more memory."
    }
    database_cpu = {
      title       = "The database is busy", severity = "WARNING", limit = 0.9, duration = local.minutes[15]
      filter      = "resource.type=\"cloudsql_database\" AND resource.labels.database_id=\"${var.project_id}:${google_sql_database_instance.this.name}\" AND metric.type=\"cloudsql.googleapis.com/database/cpu/utilization\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "See Query Insights for the statement. Choose a larger `database.tier`."
    }
    database_disk = {
      title       = "The database's disk is nearly full", severity = "CRITICAL", limit = 0.9, duration = local.minutes[10]
      filter      = "resource.type=\"cloudsql_database\" AND resource.labels.database_id=\"${var.project_id}:${google_sql_database_instance.this.name}\" AND metric.type=\"cloudsql.googleapis.com/database/disk/utilization\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "The disk grows by itself, so its growth has failed or waits. Raise `database.disk_gb`; see whether `xprof-hub prune` runs, and `XPROF_HUB_AUDIT_DAYS`."
    }
    redis_memory = {
      title       = "Redis is short of memory", severity = "WARNING", limit = 0.8, duration = local.minutes[15]
      filter      = "resource.type=\"redis_instance\" AND resource.labels.instance_id=\"${google_redis_instance.this.id}\" AND metric.type=\"redis.googleapis.com/stats/memory/system_memory_usage_ratio\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "Beyond 80% of its system memory Redis may refuse to write. Results are a cache, so nothing is lost. Raise `redis.memory_gb`."
    }
    prune_failed = {
      title       = "What is due was not deleted", severity = "WARNING", limit = 0, duration = "0s"
      filter      = "resource.type=\"cloud_run_job\" AND resource.labels.job_name=\"${var.name}-prune\" AND metric.type=\"run.googleapis.com/job/completed_execution_count\" AND metric.labels.result=\"failed\""
      denominator = null
      aligner     = "ALIGN_DELTA", reducer = "REDUCE_SUM"
      runbook     = "See the job's log; the next run finishes what this one left. Run it again: `gcloud run jobs execute ${var.name}-prune --region=${var.region}`."
    }
    burn_rate = {
      title       = "The error budget of 28 days goes fast", severity = "CRITICAL", limit = 10, duration = "0s"
      filter      = "select_slo_burn_rate(\"${google_monitoring_slo.availability.name}\", \"3600s\")"
      denominator = null
      aligner     = null, reducer = null
      runbook     = "At this rate the month's budget is gone within three days. As for server errors."
    }
  }

  # On the hub's own metrics.
  query_alerts = var.metrics_image == null ? {} : {
    queue = {
      title   = "People wait for conversions", severity = "WARNING", duration = local.minutes[10]
      query   = "sum(xprof_hub_conversions_waiting{urgency=\"person\"}) > 10"
      runbook = "More than ten conversions wait for their turn. Raise `worker.max_instances`, or `worker.min_instances` before a talk. If one session has most of them: see the log of the workers for it."
    }
    hit_rate = {
      title   = "Few answers come from the cache", severity = "WARNING", duration = local.minutes[15]
      query   = "sum(rate(xprof_hub_results_total{outcome=\"hit\"}[30m])) / sum(rate(xprof_hub_results_total{outcome=~\"hit|miss\"}[30m])) < 0.3 and sum(rate(xprof_hub_results_total[30m])) > 0.5"
      runbook = "Less than a third of the answers was there. Usual after an upgrade of XProf, which makes all anew; otherwise Redis is too small (`redis.memory_gb`) or away."
    }
    lost_registrations = {
      title   = "Jobs could not be registered", severity = "CRITICAL", duration = "0s"
      query   = "sum(increase(xprof_hub_lost_registrations_total[10m])) > 0"
      runbook = "Jobs were told to go on although the database did not take their registration. Look at the database; then `xprof-hub import` finds their sessions."
    }
  }
}

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
      comparison         = "COMPARISON_GT"
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
        alignment_period     = "120s"
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
