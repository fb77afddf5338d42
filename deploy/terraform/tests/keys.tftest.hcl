# Secrets that change, and keys of one's own.

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

run "the_next_key_is_accepted" {
  command = apply

  variables {
    accepted_secret_key_version = 2
  }

  assert {
    condition     = keys(google_secret_manager_secret_version.secret_key) == ["1", "2"]
    error_message = "There are two."
  }

  assert {
    condition = alltrue([for part in concat([google_cloud_run_v2_service.front.template[0]], [for worker in google_cloud_run_v2_service.workers : worker.template[0]], [google_cloud_run_v2_job.tasks["prune"].template[0].template[0]]) : { for env in part.containers[0].env : env.name => env.value_source[0].secret_key_ref[0].version if contains(["XPROF_HUB_SECRET_KEY", "XPROF_HUB_OLD_SECRET_KEYS"], env.name) } == {
      XPROF_HUB_SECRET_KEY = google_secret_manager_secret_version.secret_key["1"].version, XPROF_HUB_OLD_SECRET_KEYS = google_secret_manager_secret_version.secret_key["2"].version
    }])
    error_message = "All parts go on with the first one and take the second."
  }
}

run "it_takes_over" {
  command = apply

  variables {
    secret_key_version          = 2
    accepted_secret_key_version = 1
  }

  assert {
    condition = { for env in google_cloud_run_v2_service.front.template[0].containers[0].env : env.name => env.value_source[0].secret_key_ref[0].version if contains(["XPROF_HUB_SECRET_KEY", "XPROF_HUB_OLD_SECRET_KEYS"], env.name) } == {
      XPROF_HUB_SECRET_KEY = google_secret_manager_secret_version.secret_key["2"].version, XPROF_HUB_OLD_SECRET_KEYS = google_secret_manager_secret_version.secret_key["1"].version
    }
    error_message = "The two change places."
  }

  assert {
    condition     = { for key, version in google_secret_manager_secret_version.secret_key : key => version.secret_data_wo_version } == { "1" = 1, "2" = 2 }
    error_message = "And neither is made anew: that happens only when this number changes."
  }
}

run "the_former_one_goes" {
  command = apply

  variables {
    secret_key_version = 2
  }

  assert {
    condition     = keys(google_secret_manager_secret_version.secret_key) == ["2"] && !contains(google_cloud_run_v2_service.front.template[0].containers[0].env[*].name, "XPROF_HUB_OLD_SECRET_KEYS")
    error_message = "Then there is one again."
  }
}

run "a_key_of_ones_own" {
  command = plan

  variables {
    kms_key  = "projects/example-keys/locations/europe-west4/keyRings/hub/cryptoKeys/data"
    profiles = { training = { root = "gs://example-training" } }
    redis    = { memory_gb = 10, replicated = true, read_replicas = 2 }
  }

  assert {
    condition = alltrue([for key in concat(
      [google_storage_bucket.cache.encryption[0].default_kms_key_name, google_storage_bucket.uploads.encryption[0].default_kms_key_name],
      [google_sql_database_instance.this.encryption_key_name, google_redis_instance.this.customer_managed_key, google_artifact_registry_repository.images.kms_key_name, google_pubsub_topic.profiles[0].kms_key_name],
      [for secret in google_secret_manager_secret.this : secret.replication[0].user_managed[0].replicas[0].customer_managed_encryption[0].kms_key_name],
    ) : key == var.kms_key])
    error_message = "Everything that is kept is encrypted with it."
  }

  assert {
    condition     = toset(keys(google_kms_crypto_key_iam_member.agents)) == toset(["artifactregistry.googleapis.com", "pubsub.googleapis.com", "redis.googleapis.com", "secretmanager.googleapis.com", "sqladmin.googleapis.com", "storage.googleapis.com"]) && alltrue([for grant in google_kms_crypto_key_iam_member.agents : grant.role == "roles/cloudkms.cryptoKeyEncrypterDecrypter" && grant.crypto_key_id == var.kms_key])
    error_message = "Those who keep it may use the key."
  }

  assert {
    condition     = google_redis_instance.this.read_replicas_mode == "READ_REPLICAS_ENABLED" && google_redis_instance.this.replica_count == 2
    error_message = "Redis has two replicas that can be asked."
  }

  assert {
    condition     = contains(google_cloud_run_v2_service.front.template[0].containers[0].env[*].name, "XPROF_HUB_REDIS_REPLICA_URL") && contains(google_cloud_run_v2_service.workers["worker"].template[0].containers[0].env[*].name, "XPROF_HUB_REDIS_REPLICA_URL") && !contains(google_cloud_run_v2_job.tasks["prune"].template[0].template[0].containers[0].env[*].name, "XPROF_HUB_REDIS_REPLICA_URL")
    error_message = "Who reads results asks them."
  }
}

run "without_one" {
  command = plan

  assert {
    condition     = length(google_kms_crypto_key_iam_member.agents) == 0 && length(google_project_service_identity.agents) == 0 && length(google_storage_bucket.uploads.encryption) == 0
    error_message = "Google's own keys need nothing."
  }

  assert {
    condition     = google_redis_instance.this.read_replicas_mode == "READ_REPLICAS_DISABLED" && google_redis_instance.this.tier == "BASIC"
    error_message = "Nothing is replicated unless that is said."
  }
}

run "a_standby" {
  # Applied with made-up values, which are 0 where Memorystore chooses.
  command = apply

  variables {
    redis = { replicated = true }
  }

  assert {
    condition     = google_redis_instance.this.tier == "STANDARD_HA" && google_redis_instance.this.read_replicas_mode == "READ_REPLICAS_DISABLED" && google_redis_instance.this.replica_count == 0
    error_message = "Memorystore takes a number of replicas only where they can be read."
  }
}

run "uploads_that_may_be_deleted" {
  command = plan

  variables {
    settings = { XPROF_HUB_DELETE_PROFILES = "true" }
  }

  assert {
    condition     = google_storage_bucket_iam_member.own["uploads jobs"].role == "roles/storage.objectUser"
    error_message = "The job that deletes profiles may do so in our bucket."
  }
}
