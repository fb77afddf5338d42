# Who runs what, in which order, as whom, and with which rights.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
  mock_data "google_artifact_registry_docker_image" {
    defaults = { self_link = "europe-west4-docker.pkg.dev/example-project/xprof-hub/xprof-hub@sha256:0123" }
  }
}

mock_provider "google-beta" {}

variables {
  project_id = "example-project"
  region     = "europe-west4"
}

run "rights" {
  # Applied with made-up values, so that each account is known.
  command = apply

  variables {
    profiles = { training = { root = "gs://example-training/runs" } }
  }

  # ---- all bindings of each account; those of profiles are in access.tftest.hcl

  assert {
    condition = { for key, grant in google_project_iam_member.database : key => grant.role } == {
      "front client"   = "roles/cloudsql.client"
      "front user"     = "roles/cloudsql.instanceUser"
      "jobs client"    = "roles/cloudsql.client"
      "jobs user"      = "roles/cloudsql.instanceUser"
      "migrate client" = "roles/cloudsql.client"
      "migrate user"   = "roles/cloudsql.instanceUser"
      "setup client"   = "roles/cloudsql.client"
    }
    error_message = "Front ends and jobs sign in to the database with their identity, the setup job with its password."
  }

  assert {
    condition     = alltrue([for key, grant in google_project_iam_member.database : grant.member == google_service_account.this[split(" ", key)[0]].member && strcontains(grant.condition[0].expression, "resource.name == 'projects/example-project/instances/xprof-hub'")])
    error_message = "Each for itself, and for this database only."
  }

  assert {
    condition     = { for part, grant in google_project_iam_member.metrics : part => grant.role } == { front = "roles/monitoring.metricWriter", worker = "roles/monitoring.metricWriter" } && alltrue([for part, grant in google_project_iam_member.metrics : grant.member == google_service_account.this[part].member])
    error_message = "Nothing else is given on the project: front ends and workers write metrics."
  }

  assert {
    condition = toset(keys(google_secret_manager_secret_iam_member.readers)) == toset([
      "secret-key front", "secret-key worker", "secret-key jobs", "redis-url front", "redis-url worker", "redis-url jobs",
      "redis-ca front", "redis-ca worker", "redis-ca jobs", "metrics-config front", "metrics-config worker", "database-password setup",
    ]) && alltrue([for key, grant in google_secret_manager_secret_iam_member.readers : grant.role == "roles/secretmanager.secretAccessor" && grant.member == google_service_account.this[split(" ", key)[1]].member && grant.secret_id == "xprof-hub-${split(" ", key)[0]}"])
    error_message = "Each part reads the secrets that it uses, secret by secret."
  }

  assert {
    condition     = alltrue([for key, grant in google_storage_bucket_iam_member.own : grant.member == google_service_account.this[split(" ", key)[1]].member]) && alltrue([for key, grant in google_storage_bucket_iam_member.profiles : grant.member == google_service_account.this[split(" ", key)[1]].member && grant.role == "roles/storage.objectViewer"])
    error_message = "Rights on buckets are given to the parts that they are named after."
  }

  assert {
    condition     = toset(keys(google_cloud_run_v2_service_iam_member.front_calls_workers)) == toset(["worker", "large-worker"]) && alltrue([for class, grant in google_cloud_run_v2_service_iam_member.front_calls_workers : grant.role == "roles/run.invoker" && grant.member == google_service_account.this["front"].member && grant.name == "xprof-hub-${class}"])
    error_message = "Front ends, and nobody else, may call workers."
  }

  assert {
    condition     = !coalesce(google_cloud_run_v2_service.workers["worker"].invoker_iam_disabled, false) && google_cloud_run_v2_service.front.invoker_iam_disabled && { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value }["XPROF_HUB_WORKER_IDENTITY"] == "google"
    error_message = "Cloud Run checks who calls workers; people have no account at Google."
  }

  assert {
    condition     = keys(google_cloud_run_v2_job_iam_member.scheduler) == ["prune"] && google_cloud_run_v2_job_iam_member.scheduler["prune"].role == "roles/run.invoker" && google_cloud_run_v2_job_iam_member.scheduler["prune"].member == google_service_account.this["scheduler"].member
    error_message = "The scheduler starts what has a schedule, and nothing else."
  }

  assert {
    condition = { for part, account in merge({ for class, service in google_cloud_run_v2_service.workers : class => service.template[0].service_account }, { front = google_cloud_run_v2_service.front.template[0].service_account, setup = google_cloud_run_v2_job.setup.template[0].template[0].service_account }, { for task, job in google_cloud_run_v2_job.tasks : task => job.template[0].template[0].service_account }) : part => account } == {
      front   = google_service_account.this["front"].email, worker = google_service_account.this["worker"].email, "large-worker" = google_service_account.this["worker"].email
      migrate = google_service_account.this["migrate"].email, prune = google_service_account.this["jobs"].email, setup = google_service_account.this["setup"].email
    }
    error_message = "Every part runs as itself."
  }

  assert {
    condition = (
      length(google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].volumes) == 0
      && length(google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].containers[0].volume_mounts) == 0
      && alltrue([for env in google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].containers[0].env : length(env.value_source) == 0])
      && strcontains({ for env in google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].containers[0].env : env.name => env.value }["XPROF_HUB_DATABASE_URL"], "xprof-hub-migrate%40example-project.iam")
      && !anytrue([for key in concat(keys(google_secret_manager_secret_iam_member.readers), keys(google_storage_bucket_iam_member.own), keys(google_storage_bucket_iam_member.profiles)) : strcontains(key, "migrate")])
    )
    error_message = "Who migrates the database reads no secret, no bucket and no cache."
  }

  assert {
    condition     = google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].vpc_access[0].network_interfaces[0].tags == tolist(["xprof-hub-migrate"]) && !contains(google_compute_firewall.egress["redis"].target_tags, "xprof-hub-migrate") && contains(google_compute_firewall.egress["proxy"].target_tags, "xprof-hub-migrate")
    error_message = "And reaches the database only."
  }

  # ---- what is there while something else takes its place

  assert {
    condition     = alltrue([for version in concat([google_secret_manager_secret_version.redis_url, google_secret_manager_secret_version.redis_ca], google_secret_manager_secret_version.metrics_config) : version.deletion_policy == "ABANDON"])
    error_message = "What running instances start with stays until the next revision is there."
  }

  assert {
    condition     = alltrue(flatten([for template in concat([google_cloud_run_v2_service.front.template[0]], [for worker in google_cloud_run_v2_service.workers : worker.template[0]], [google_cloud_run_v2_job.tasks["prune"].template[0].template[0]]) : [for env in template.containers[0].env : [for source in env.value_source : contains(["xprof-hub-secret-key", "xprof-hub-redis-url"], source.secret_key_ref[0].secret)]]]))
    error_message = "Secrets of its own project are named to Cloud Run by their short names."
  }

  assert {
    condition     = google_service_networking_connection.this.update_on_creation_fail && google_service_networking_connection.this.deletion_policy == "ABANDON"
    error_message = "The way to the database and Redis outlives a hub, and the next one in its network takes it over."
  }

  # ---- what they are told

  assert {
    condition = alltrue([for service in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : { for env in service.template[0].containers[0].env : env.name => env.value if contains(["XPROF_HUB_STOP_SECONDS", "XPROF_HUB_KEEP_ALIVE_SECONDS", "XPROF_HUB_METRICS_PORT", "XPROF_HUB_GOOGLE_PROJECT"], env.name) } == {
      XPROF_HUB_STOP_SECONDS = "6", XPROF_HUB_KEEP_ALIVE_SECONDS = "620", XPROF_HUB_METRICS_PORT = "9464", XPROF_HUB_GOOGLE_PROJECT = "example-project"
    }])
    error_message = "They end within Cloud Run's ten seconds, keep connections longer than Google's proxies, show their metrics to nobody but the sidecar, and log as Cloud Logging reads it."
  }

  assert {
    condition     = yamldecode(google_secret_manager_secret_version.metrics_config[0].secret_data).spec.endpoints == [{ port = 9464, path = "/metrics", interval = "30s" }]
    error_message = "The sidecar asks for them there."
  }

  assert {
    condition     = alltrue([for service in [google_cloud_run_v2_service.front, google_cloud_run_v2_service.workers["worker"]] : flatten([for container in service.template[0].containers : container.volume_mounts[*].mount_path if container.name == "metrics"]) == ["/etc/rungmp"] && [for volume in service.template[0].volumes : one(volume.secret[0].items).path if volume.name == "metrics-config"] == ["config.yaml"]])
    error_message = "And finds that where it looks."
  }

  assert {
    condition     = google_cloud_run_v2_service.workers["large-worker"].template[0].containers[*].name == tolist(["worker"]) && google_cloud_run_v2_service.workers["large-worker"].template[0].volumes[*].name == tolist(["redis-ca"])
    error_message = "Beside 8 CPUs there is no room for it."
  }

  # ---- what Cloud Run gives

  assert {
    condition     = alltrue([for service in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : sum([for container in service.template[0].containers : endswith(container.resources[0].limits["cpu"], "m") ? tonumber(trimsuffix(container.resources[0].limits["cpu"], "m")) / 1000 : tonumber(container.resources[0].limits["cpu"])]) <= 8])
    error_message = "An instance has 8 CPUs at most, all containers together."
  }

  assert {
    condition     = alltrue(flatten([for template in concat([for service in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : service.template[0]], [for job in google_cloud_run_v2_job.tasks : job.template[0].template[0]]) : [for container in template.containers : endswith(container.resources[0].limits["memory"], "Gi") || can(regex("^(51[2-9]|5[2-9][0-9]|[6-9][0-9]{2}|[0-9]{4,})Mi$", container.resources[0].limits["memory"]))]]))
    error_message = "No container has less than 512 MiB, which the second generation asks for."
  }

  assert {
    condition     = { for class, worker in google_cloud_run_v2_service.workers : class => sum([for container in worker.template[0].containers : tonumber(trimsuffix(container.resources[0].limits["memory"], "Mi"))]) } == { worker = 16 * 1024, "large-worker" = 32 * 1024 }
    error_message = "A worker's memory is that of all its containers together, which fits its CPUs: 16 GiB for 4, 32 GiB for 8."
  }

  assert {
    condition     = alltrue(flatten([for template in concat([for service in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : service.template[0]], [for job in concat(values(google_cloud_run_v2_job.tasks), [google_cloud_run_v2_job.setup]) : job.template[0].template[0]]) : [for container in template.containers : [for probe in container.startup_probe : probe.period_seconds * probe.failure_threshold == 220]]]))
    error_message = "The way into the network may take more than a minute; Cloud Run allows four."
  }

  assert {
    condition     = alltrue(flatten([for worker in google_cloud_run_v2_service.workers : [for container in worker.template[0].containers : container.resources[0].cpu_idle == false]]))
    error_message = "All containers of an instance are paid for in the same way."
  }

  assert {
    condition     = google_service_account_iam_member.pubsub_signs[0].service_account_id == google_service_account.this["push"].name && google_service_account_iam_member.pubsub_signs[0].role == "roles/iam.serviceAccountOpenIdTokenCreator" && google_service_account_iam_member.pubsub_signs[0].member == google_project_service_identity.agents["pubsub.googleapis.com"].member
    error_message = "Pub/Sub may sign notifications as the account that is there for that, and as no other one."
  }

  # ---- the database is migrated before front ends start

  assert {
    condition     = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value if contains(["XPROF_HUB_MIGRATE", "XPROF_HUB_DATABASE_CONNECTIONS"], env.name) } == { XPROF_HUB_MIGRATE = "false", XPROF_HUB_DATABASE_CONNECTIONS = "30" }
    error_message = "Front ends leave the database as it is."
  }

  assert {
    condition     = { for task, job in google_cloud_run_v2_job.tasks : task => [for env in job.template[0].template[0].containers[0].env : env.value if env.name == "HUB_COMMAND"][0] } == { migrate = "migrate", prune = "prune --json" }
    error_message = "One job migrates, one deletes what is due."
  }

  assert {
    condition     = google_cloud_run_v2_job.tasks["migrate"].run_execution_token == random_id.migrate.hex && google_cloud_run_v2_job.tasks["prune"].run_execution_token == null && google_cloud_run_v2_job.setup.run_execution_token == random_id.setup.hex
    error_message = "Terraform runs what has to be done first, and waits for it."
  }

  assert {
    condition     = alltrue([for part in concat([google_cloud_run_v2_service.front], values(google_cloud_run_v2_service.workers)) : part.template[0].containers[0].image == "europe-west4-docker.pkg.dev/example-project/xprof-hub/xprof-hub@sha256:0123"]) && google_cloud_run_v2_job.tasks["migrate"].template[0].template[0].containers[0].image == google_cloud_run_v2_service.front.template[0].containers[0].image
    error_message = "All parts have the same image, by digest."
  }
}

run "another_image" {
  command = apply

  variables {
    image = "europe-docker.pkg.dev/example/hub/xprof-hub@sha256:4567"
  }

  assert {
    condition     = random_id.migrate.keepers.image == var.image && random_id.migrate.keepers.setup == random_id.setup.hex
    error_message = "The database is migrated again for each image, and when its role has changed."
  }

  assert {
    condition     = output.executions.setup != run.rights.executions.setup && output.executions.migrate != run.rights.executions.migrate
    error_message = "Both jobs have another image, so they are run by another name: the one of before is taken."
  }
}

run "another_setting" {
  command = apply

  variables {
    image    = "europe-docker.pkg.dev/example/hub/xprof-hub@sha256:4567"
    settings = { XPROF_HUB_LINK_DAYS = "3" }
  }

  assert {
    condition     = output.executions.setup == run.another_image.executions.setup && output.executions.migrate != run.another_image.executions.migrate
    error_message = "And so they are whenever something else of them changes, and only then."
  }
}
