# 1.11: values that are written to Google Cloud and never into the state (`*_wo`). Of what 7.0 and 8.0 of the providers
# have removed or changed, nothing is used here.
terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.50, < 9"
    }
    # One field only: a job that terraform runs, and waits for, when it is made (see database.tf).
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
