# What the module refuses before anything is made.

mock_provider "google" {
  mock_data "google_project" {
    defaults = { number = "123456789012" }
  }
}

mock_provider "google-beta" {}

variables {
  project_id = "example-project"
  region     = "europe-west4"
}

run "host_names" {
  command = plan
  variables {
    hub_domain     = "xprof.example.org"
    content_domain = "xprof.example.org"
  }
  expect_failures = [var.content_domain]
}

run "one_host_name_alone" {
  command = plan
  variables {
    hub_domain = "xprof.example.org"
  }
  expect_failures = [var.content_domain]
}

run "iap_without_a_load_balancer" {
  command = plan
  variables {
    auth = "iap"
  }
  expect_failures = [var.auth]
}

run "values" {
  command = plan
  variables {
    project_id            = "Example Project"
    region                = "europe"
    name                  = "a-name-that-is-too-long-for-accounts"
    labels                = { Team = "ML" }
    admins                = ["ann@example.org"]
    iap_members           = ["allUsers"]
    profiles              = { training = { root = "gs://example-training/a,b" } }
    settings              = { LINK_DAYS = "14" }
    front                 = { cpu = 1, memory_gib = 4 }
    worker                = { scratch_gib = 13 }
    large_worker          = { cpu = 4 }
    database              = { version = "POSTGRES_14" }
    subnet_range          = "10.0.0.0/28"
    upload_undelete_days  = 3
    secret_key_version    = 0
    prune_schedule        = "daily"
    scan_schedule         = "daily"
    kms_key               = "my-key"
    redis                 = { memory_gb = 2, replicated = true, read_replicas = 1 }
    notification_channels = ["on-call@example.org"]
  }
  expect_failures = [
    var.project_id, var.region, var.name, var.labels, var.admins, var.iap_members, var.profiles, var.settings,
    var.front, var.worker, var.large_worker, var.database, var.subnet_range, var.upload_undelete_days,
    var.secret_key_version, var.notification_channels, var.prune_schedule, var.scan_schedule, var.kms_key, var.redis,
  ]
}

run "what_google_refuses" {
  command = plan
  variables {
    front             = { cpu = 6, memory_gib = 3 }
    worker            = { cpu = 6, memory_gib = 4.5, scratch_gib = 0, results_gib = 0 }
    large_worker      = { cpu = 8, memory_gib = 4.5, scratch_gib = 0, results_gib = 0 }
    database          = { tier = "db-perf-optimized-N-2" }
    availability_goal = 0.99995
  }
  expect_failures = [var.front, var.worker, var.large_worker, var.database, var.availability_goal]
}

run "two_keys_that_are_one" {
  command = plan
  variables {
    secret_key_version          = 2
    accepted_secret_key_version = 2
  }
  expect_failures = [var.accepted_secret_key_version]
}

run "connections" {
  command = plan
  variables {
    front = { database_connections = 1 }
  }
  expect_failures = [var.front]
}

run "settings_of_the_module" {
  command = plan
  variables {
    settings = { XPROF_HUB_ENVIRONMENT = "development" }
  }
  expect_failures = [google_cloud_run_v2_service.workers]
}
