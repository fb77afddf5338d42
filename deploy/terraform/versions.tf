# 1.11: values that are written to Google Cloud and never into the state (`*_wo`). Of what 7.0 and 8.0 of the providers
# have removed or changed, nothing is used here.
terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.50, < 9"
    }
    # Jobs that terraform runs, and waits for (setup.tf, jobs.tf), and accounts of Google's services (encryption.tf).
    google-beta = {
      source  = "hashicorp/google-beta"
      version = ">= 6.50, < 9"
    }
    random = {
      source  = "hashicorp/random"
      version = ">= 3.7, < 4"
    }
  }
}
