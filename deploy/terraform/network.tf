# A network of its own. Whatever runs in it reaches Google's APIs, the database and Redis, and nothing else:
# conversions read profiles by anybody, and what one of them takes over should have nobody to call.

locals {
  # Google's APIs by private addresses; the second range is what VPC Service Controls guard.
  api_range     = var.restricted_apis ? "199.36.153.4/30" : "199.36.153.8/30"
  api_addresses = [for host in range(4) : cidrhost(local.api_range, host)]
  api_zones = merge(
    { googleapis = "googleapis.com.", run = "run.app.", pkg = "pkg.dev." },
    # IAP's public keys. The restricted addresses don't serve them.
    var.restricted_apis ? {} : { gstatic = "gstatic.com." },
  )
  # A provider of OpenID Connect is anywhere; IAP's keys are, where the restricted addresses are used.
  front_needs_internet = var.auth == "oidc" || (local.has_iap && var.restricted_apis)
  private_services     = "${google_compute_global_address.private_services.address}/${google_compute_global_address.private_services.prefix_length}"

  egress = {
    apis  = { tags = values(local.tags), ranges = [local.api_range], ports = ["443"] }
    redis = { tags = [local.tags.front, local.tags.worker, local.tags.jobs], ranges = [local.private_services], ports = ["6378"] }
    proxy = { tags = [local.tags.front, local.tags.jobs, local.tags.migrate, local.tags.setup], ranges = [local.private_services], ports = ["3307"] }
  }
  tags = { for part in ["front", "worker", "jobs", "migrate", "setup"] : part => "${var.name}-${part}" }
}

resource "google_compute_network" "this" {
  project                 = var.project_id
  name                    = var.name
  auto_create_subnetworks = false
  depends_on              = [google_project_service.this]
}

resource "google_compute_subnetwork" "this" {
  project                  = var.project_id
  name                     = var.name
  region                   = var.region
  network                  = google_compute_network.this.id
  ip_cidr_range            = var.subnet_range
  private_ip_google_access = true

  log_config {
    aggregation_interval = "INTERVAL_10_MIN"
    flow_sampling        = 0.1
    metadata             = "INCLUDE_ALL_METADATA"
  }
}

# ---- the database and Redis
resource "google_compute_global_address" "private_services" {
  project       = var.project_id
  name          = "${var.name}-services"
  purpose       = "VPC_PEERING"
  address_type  = "INTERNAL"
  prefix_length = 20
  network       = google_compute_network.this.id
  labels        = local.labels
}

resource "google_service_networking_connection" "this" {
  network                 = google_compute_network.this.id
  service                 = "servicenetworking.googleapis.com"
  reserved_peering_ranges = [google_compute_global_address.private_services.name]
  deletion_policy         = "ABANDON"
  # What is abandoned is still there when a hub is made again in the same network.
  update_on_creation_fail = true
}

# ---- Google's APIs
resource "google_dns_managed_zone" "apis" {
  for_each    = local.api_zones
  project     = var.project_id
  name        = "${var.name}-${each.key}"
  dns_name    = each.value
  description = "Google's APIs by private addresses"
  visibility  = "private"
  labels      = local.labels

  private_visibility_config {
    networks {
      network_url = google_compute_network.this.id
    }
  }
}

resource "google_dns_record_set" "apis" {
  for_each     = local.api_zones
  project      = var.project_id
  managed_zone = google_dns_managed_zone.apis[each.key].name
  name         = each.value
  type         = "A"
  ttl          = 300
  rrdatas      = local.api_addresses
}

resource "google_dns_record_set" "api_names" {
  for_each     = local.api_zones
  project      = var.project_id
  managed_zone = google_dns_managed_zone.apis[each.key].name
  name         = "*.${each.value}"
  type         = "CNAME"
  ttl          = 300
  rrdatas      = [each.value]
}

# ---- who may call whom
resource "google_compute_firewall" "deny_egress" {
  project            = var.project_id
  name               = "${var.name}-deny-egress"
  description        = "What no other rule allows"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 65000
  destination_ranges = ["0.0.0.0/0"]

  deny {
    protocol = "all"
  }

  log_config {
    metadata = "INCLUDE_ALL_METADATA"
  }
}

resource "google_compute_firewall" "egress" {
  for_each           = local.egress
  project            = var.project_id
  name               = "${var.name}-to-${each.key}"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 1000
  destination_ranges = each.value.ranges
  target_tags        = each.value.tags

  allow {
    protocol = "tcp"
    ports    = each.value.ports
  }
}

resource "google_compute_firewall" "front_to_internet" {
  count              = local.front_needs_internet ? 1 : 0
  project            = var.project_id
  name               = "${var.name}-to-internet"
  description        = "Where people sign in, and the keys that vouch for them"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 1000
  destination_ranges = ["0.0.0.0/0"]
  target_tags        = [local.tags.front]

  allow {
    protocol = "tcp"
    ports    = ["443"]
  }
}

resource "google_compute_router" "this" {
  count   = local.front_needs_internet ? 1 : 0
  project = var.project_id
  name    = var.name
  region  = var.region
  network = google_compute_network.this.id
}

resource "google_compute_router_nat" "this" {
  count                              = local.front_needs_internet ? 1 : 0
  project                            = var.project_id
  name                               = var.name
  router                             = google_compute_router.this[0].name
  region                             = var.region
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"

  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}
