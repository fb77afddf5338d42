# What is worth waking somebody: on what Google measures, and on the hub's own metrics, which need the sidecar that
# hands them on.

locals {
  minutes = { for count in [5, 10, 15] : count => "${count * 60}s" }
  has_own = var.metrics_image != null
  # The sidecar labels what it hands on: a project may hold several hubs. Workers look into the caches again when a
  # front end has found nothing, so only those of front ends say how often somebody's answer was there.
  own       = "job=\"${var.name}\""
  own_front = "${local.own},service_name=\"${google_cloud_run_v2_service.front.name}\""
  this_sql  = "resource.type=\"cloudsql_database\" AND resource.labels.database_id=\"${var.project_id}:${google_sql_database_instance.this.name}\""

  # More than the limit, or less (below), for so long.
  all_thresholds = {
    errors = {
      title       = "Front ends answer with server errors", severity = "CRITICAL", limit = 0.02, below = false, duration = local.minutes[5]
      filter      = "${local.front_metric} AND metric.labels.response_code_class=\"5xx\""
      denominator = local.front_metric
      aligner     = "ALIGN_RATE", reducer = "REDUCE_SUM"
      runbook     = "More than 2% of the requests fail. Look for `severity>=ERROR` in the log of the front ends; the trace of a line leads to what workers wrote about the same request. 503: workers are busy, or a bucket or the database does not answer. 504: conversions take longer than front ends wait. 500 since a new revision: send the traffic back to the one before."
    }
    slow = {
      title       = "Front ends are slow", severity = "WARNING", limit = var.slow_seconds * 1000, below = false, duration = local.minutes[15]
      filter      = "${local.front_service} AND metric.type=\"run.googleapis.com/request_latencies\""
      denominator = null
      aligner     = "ALIGN_DELTA", reducer = "REDUCE_PERCENTILE_95"
      runbook     = local.slow_runbook
    }
    database_down = {
      title       = "The database is down", severity = "CRITICAL", limit = 1, below = true, duration = local.minutes[5]
      filter      = "${local.this_sql} AND metric.type=\"cloudsql.googleapis.com/database/up\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MIN"
      runbook     = "Nobody can open anything. See the operations of the instance: maintenance ends by itself, a full disk does not. With `database.regional` a standby takes over within two minutes; without, restore it (\"Back up and restore\" in docs/deploying.md)."
    }
    database_cpu = {
      title       = "The database is busy", severity = "WARNING", limit = 0.9, below = false, duration = local.minutes[15]
      filter      = "${local.this_sql} AND metric.type=\"cloudsql.googleapis.com/database/cpu/utilization\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "See Query Insights for the statement. Choose a larger `database.tier`."
    }
    database_disk = {
      title       = "The database's disk is nearly full", severity = "CRITICAL", limit = 0.9, below = false, duration = local.minutes[10]
      filter      = "${local.this_sql} AND metric.type=\"cloudsql.googleapis.com/database/disk/utilization\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "The disk grows by itself, so its growth has failed or waits. Raise `database.disk_gb`; see whether `xprof-hub prune` runs, and `XPROF_HUB_AUDIT_DAYS`."
    }
    database_connections = {
      title       = "The database's connections run out", severity = "WARNING", limit = floor(0.85 * local.most_connections), below = false, duration = local.minutes[10]
      filter      = "${local.this_sql} AND metric.type=\"cloudsql.googleapis.com/database/postgresql/num_backends\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_SUM"
      runbook     = "More than 85% of what the database lets in. Are there front ends of an older revision that do not end? Otherwise take fewer `front.database_connections`, or a larger `database.tier` and more `front.max_instances`."
    }
    redis_memory = {
      title       = "Redis is short of memory", severity = "WARNING", limit = 0.8, below = false, duration = local.minutes[15]
      filter      = "resource.type=\"redis_instance\" AND resource.labels.instance_id=\"${google_redis_instance.this.id}\" AND metric.type=\"redis.googleapis.com/stats/memory/system_memory_usage_ratio\""
      denominator = null
      aligner     = "ALIGN_MEAN", reducer = "REDUCE_MAX"
      runbook     = "Beyond 80% of its system memory Redis may refuse to write. Results are a cache, so nothing is lost. Raise `redis.memory_gb`."
    }
    jobs_failed = {
      title       = "A job has failed", severity = "WARNING", limit = 0, below = false, duration = "0s"
      filter      = "resource.type=\"cloud_run_job\" AND resource.labels.job_name=starts_with(\"${var.name}-\") AND metric.type=\"run.googleapis.com/job/completed_execution_count\" AND metric.labels.result=\"failed\""
      denominator = null
      aligner     = "ALIGN_DELTA", reducer = "REDUCE_SUM"
      runbook     = "See which one in Cloud Run, and its log. `prune` and `scan`: the next run finishes what this one left; run it again with `gcloud run jobs execute ${var.name}-prune --region=${var.region}`. `migrate`: the front ends of before go on; nothing new starts until it has succeeded (`terraform apply -replace=module.xprof_hub.random_id.migrate`)."
    }
    burn_rate = {
      title       = "The error budget of 28 days goes fast", severity = "CRITICAL", limit = 10, below = false, duration = "0s"
      filter      = "select_slo_burn_rate(\"${google_monitoring_slo.availability.name}\", \"3600s\")"
      denominator = null
      aligner     = null, reducer = null
      runbook     = "At this rate the month's budget is gone within three days. As for server errors."
    }
  }
  # The hub's own measure is better where there is one: Cloud Run's lasts until an answer's end.
  threshold_alerts = { for key, alert in local.all_thresholds : key => alert if !(local.has_own && key == "slow") }
  slow_runbook     = "One request in twenty waits longer than `slow_seconds` for the beginning of its answer. Look at the queue of conversions and the hit rate on the dashboard: many people before new profiles need more workers (`worker.max_instances`); the same profiles again and again need more Redis (`redis.memory_gb`). For one link see \"A slow link\" in docs/operations.md."

  query_alerts = merge(local.log_alerts, local.has_own ? local.own_alerts : {})

  # As queries, which may be there before the metric: a threshold on one that has just been made is refused.
  log_alerts = {
    memory_kills = {
      title   = "Instances run out of memory", severity = "WARNING", duration = "0s"
      query   = "sum(increase(logging_googleapis_com:user_${replace(google_logging_metric.memory_kills.name, "-", "_")}{monitored_resource=\"cloud_run_revision\"}[10m])) > 0"
      runbook = "Cloud Run has ended an instance; its conversions begin anew elsewhere. Find the service in the log. Worker: take fewer `conversions` or `scratch_gib`, or give it more memory. Front end: less `concurrency` or more memory."
    }
  }

  own_alerts = {
    first_byte = {
      title   = "Front ends are slow", severity = "WARNING", duration = local.minutes[15]
      query   = "histogram_quantile(0.95, sum by (le) (rate(xprof_hub_first_byte_seconds_bucket{${local.own},kind!=\"asset\"}[10m]))) > ${var.slow_seconds} and sum(rate(xprof_hub_first_byte_seconds_count{${local.own},kind!=\"asset\"}[10m])) > 0.1"
      runbook = local.slow_runbook
    }
    queue = {
      title   = "People wait for conversions", severity = "WARNING", duration = local.minutes[10]
      query   = "sum(xprof_hub_conversions_waiting{${local.own},urgency=\"person\"}) > 10 or max(xprof_hub_conversion_oldest_wait_seconds{${local.own}}) > 120"
      runbook = "More than ten conversions wait for their turn, or one has waited for two minutes. Raise `worker.max_instances`, or `worker.min_instances` before a talk. If they refuse (`xprof_hub_conversions_refused_total`), people are told to come again. If one session has most of them: see the log of the workers for it."
    }
    hit_rate = {
      title   = "Few answers come from the cache", severity = "WARNING", duration = local.minutes[15]
      query   = "sum(rate(xprof_hub_cache_lookups_total{${local.own_front},layer=\"redis\",outcome=\"hit\"}[30m])) / sum(rate(xprof_hub_cache_lookups_total{${local.own_front},layer=\"redis\"}[30m])) < 0.3 and sum(rate(xprof_hub_cache_lookups_total{${local.own_front},layer=\"redis\"}[30m])) > 0.5"
      runbook = "Less than a third of the answers was there. Usual after an upgrade of XProf, which makes all anew; otherwise Redis is too small (`redis.memory_gb`) or away."
    }
    redis_failed = {
      title   = "Redis does not answer", severity = "CRITICAL", duration = local.minutes[5]
      query   = "sum(rate(xprof_hub_cache_lookups_total{${local.own_front},layer=\"redis\",outcome=\"failed\"}[5m])) / sum(rate(xprof_hub_cache_lookups_total{${local.own_front},layer=\"redis\"}[5m])) > 0.2"
      runbook = "One question in five fails. Nothing is lost, but everything is converted again by each worker. See the operations of the instance: maintenance ends by itself. After AUTH was changed: apply, so that the parts learn the new password."
    }
    workers_failed = {
      title   = "Workers fail", severity = "WARNING", duration = local.minutes[5]
      query   = "sum(increase(xprof_hub_worker_ejections_total{${local.own},reason!=\"full\"}[10m])) > 5"
      runbook = "Front ends stop asking workers that fail or say nothing. See their log and memory; `gcloud run services describe ${var.name}-worker --region=${var.region}` says whether a new revision does not start."
    }
    disk_full = {
      title   = "A worker has no room on its disk", severity = "WARNING", duration = local.minutes[10]
      query   = "max(xprof_hub_disk_full{${local.own}}) > 0 or sum(increase(xprof_hub_worker_ejections_total{${local.own},reason=\"full\"}[10m])) > 5"
      runbook = "Profiles find no room on workers, which stand on their memory; other workers are asked meanwhile. Give the class more `scratch_gib` and as much more `memory_gib`, or take fewer `conversions`, which all have their files there at once."
    }
    lost_registrations = {
      title   = "Jobs could not be registered", severity = "CRITICAL", duration = "0s"
      query   = "sum(increase(xprof_hub_lost_registrations_total{${local.own}}[10m])) > 0"
      runbook = "Jobs were told to go on although the database did not take their registration. Look at the database; then `xprof-hub import` finds their sessions."
    }
  }
}
