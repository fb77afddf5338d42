# Secrets by version, and the key that everything is encrypted with.

variable "secret_key_version" {
  description = "Version of the secret key. Raise it to make a new one, in the three steps of docs/deploying.md, and nobody notices."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.secret_key_version >= 1 && floor(var.secret_key_version) == var.secret_key_version
    error_message = "A whole number from 1."
  }
}

variable "accepted_secret_key_version" {
  description = "A version that is accepted beside `secret_key_version` while one takes the other's place: first the next one, then the former one. Null: none."
  type        = number
  default     = null

  validation {
    condition     = var.accepted_secret_key_version == null || try(var.accepted_secret_key_version >= 1 && floor(var.accepted_secret_key_version) == var.accepted_secret_key_version, false)
    error_message = "A whole number from 1, or null."
  }

  validation {
    condition     = var.accepted_secret_key_version == null || var.accepted_secret_key_version != var.secret_key_version
    error_message = "Another version than secret_key_version."
  }
}

variable "database_password_version" {
  description = "Raise it to give the database's `postgres` user a new password; only the setup job signs in with it."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.database_password_version >= 1 && floor(var.database_password_version) == var.database_password_version
    error_message = "A whole number from 1."
  }
}

variable "kms_key" {
  description = "Key of Cloud KMS, in the same region, for buckets, database, Redis, secrets, images and notifications; decide before the first apply. Null: Google's own keys."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key == null || can(regex("^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$", var.kms_key))
    error_message = "A key looks like projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY."
  }
}
