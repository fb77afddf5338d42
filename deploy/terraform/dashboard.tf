# One page: what people get, what workers do, and how the parts are.

locals {
  tiles = concat(
    [
      { title = "Requests by class of status", query = "sum by (response_code_class) (rate(run_googleapis_com:request_count{monitored_resource=\"cloud_run_revision\",service_name=\"${var.name}-front\"}[5m]))" },
      { title = "Duration of requests, 95% (ms)", query = "histogram_quantile(0.95, sum by (le) (rate(run_googleapis_com:request_latencies_bucket{monitored_resource=\"cloud_run_revision\",service_name=\"${var.name}-front\"}[5m])))" },
      { title = "Instances", query = "sum by (service_name) (run_googleapis_com:container_instance_count{monitored_resource=\"cloud_run_revision\",service_name=~\"${var.name}-.*\"})" },
      { title = "Memory of instances, 95%", query = "histogram_quantile(0.95, sum by (service_name, le) (rate(run_googleapis_com:container_memory_utilizations_bucket{monitored_resource=\"cloud_run_revision\",service_name=~\"${var.name}-.*\"}[5m])))" },
      { title = "Errors in the log, by part", query = "sum by (service_name) (rate(logging_googleapis_com:user_${replace(var.name, "-", "_")}_errors{monitored_resource=\"cloud_run_revision\"}[5m])) or sum by (job_name) (rate(logging_googleapis_com:user_${replace(var.name, "-", "_")}_errors{monitored_resource=\"cloud_run_job\"}[5m]))" },
      { title = "Connections to the database", query = "sum(cloudsql_googleapis_com:database_postgresql_num_backends{monitored_resource=\"cloudsql_database\",database_id=\"${var.project_id}:${google_sql_database_instance.this.name}\"})" },
      { title = "CPU of the database", query = "avg(cloudsql_googleapis_com:database_cpu_utilization{monitored_resource=\"cloudsql_database\",database_id=\"${var.project_id}:${google_sql_database_instance.this.name}\"})" },
      { title = "System memory of Redis", query = "max(redis_googleapis_com:stats_memory_system_memory_usage_ratio{monitored_resource=\"redis_instance\",instance_id=~\".*/${var.name}\"})" },
    ],
    var.metrics_image == null ? [] : [
      { title = "First byte, 95% by kind (s)", query = "histogram_quantile(0.95, sum by (kind, le) (rate(xprof_hub_first_byte_seconds_bucket{${local.own}}[5m])))" },
      { title = "Answers from the cache by layer", query = "sum by (layer) (rate(xprof_hub_cache_lookups_total{${local.own_front},outcome=\"hit\"}[5m])) / sum by (layer) (rate(xprof_hub_cache_lookups_total{${local.own_front}}[5m]))" },
      { title = "Conversions in flight", query = "sum by (urgency) (xprof_hub_conversions_in_flight{${local.own}})" },
      { title = "Conversions that wait", query = "sum by (urgency) (xprof_hub_conversions_waiting{${local.own}})" },
      { title = "Who has waited longest (s)", query = "max(xprof_hub_conversion_oldest_wait_seconds{${local.own}})" },
      { title = "Conversions that were refused", query = "sum by (reason) (rate(xprof_hub_conversions_refused_total{${local.own}}[5m]))" },
      { title = "Conversions by outcome", query = "sum by (outcome) (rate(xprof_hub_conversions_total{${local.own}}[5m]))" },
      { title = "Time by phase (s per second)", query = "sum by (phase) (rate(xprof_hub_phase_seconds_sum{${local.own}}[5m]))" },
      { title = "Refused: too many requests", query = "sum by (limit) (rate(xprof_hub_refused_requests_total{${local.own}}[5m]))" },
      { title = "Sent to another worker", query = "sum(rate(xprof_hub_worker_retries_total{${local.own}}[5m]))" },
    ],
  )
}

resource "google_monitoring_dashboard" "this" {
  project = var.project_id

  dashboard_json = jsonencode({
    displayName = "XProf Hub (${var.name})"
    labels      = { for key, value in local.labels : key => value }
    mosaicLayout = {
      columns = 12
      tiles = [for index, tile in local.tiles : {
        xPos   = 6 * (index % 2)
        yPos   = 4 * floor(index / 2)
        width  = 6
        height = 4
        widget = {
          title   = tile.title
          xyChart = { dataSets = [{ plotType = "LINE", timeSeriesQuery = { prometheusQuery = tile.query } }] }
        }
      }]
    }
  })

  depends_on = [google_project_service.this]
}
