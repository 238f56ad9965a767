variable "name" {
  description = "What everything is called."
  type        = string
  default     = "proctor"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,20}$", var.name))
    error_message = "Lower case letters, digits and dashes, at most 21."
  }
}

variable "image" {
  description = "The image, by digest: REGISTRY/proctor@sha256:…"
  type        = string
  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.image))
    error_message = "Name the image by its digest, so that what runs is what was scanned."
  }
}

variable "origin" {
  description = "The address that people use: https://…"
  type        = string
  validation {
    condition     = can(regex("^https://[a-z0-9.-]+$", var.origin))
    error_message = "An address that begins with https://."
  }
}

variable "vpc_id" {
  type = string
}

variable "vpc_cidr" {
  description = "Addresses of the load balancer, whose X-Forwarded-For is believed."
  type        = string
}

variable "public_subnet_ids" {
  description = "For the load balancer, in two zones or more."
  type        = list(string)
}

variable "private_subnet_ids" {
  description = "For everything else, in two zones or more, with a way out to providers (NAT)."
  type        = list(string)
}

variable "certificate_arn" {
  description = "ACM's certificate for the origin."
  type        = string
}

variable "database_password" {
  description = "32 letters and digits; it ends up in Terraform's state, so keep that encrypted."
  type        = string
  sensitive   = true
  validation {
    condition     = can(regex("^[A-Za-z0-9]{32,}$", var.database_password))
    error_message = "32 letters and digits or more."
  }
}

variable "broker_password" {
  description = "32 letters and digits, for Redis."
  type        = string
  sensitive   = true
  validation {
    condition     = can(regex("^[A-Za-z0-9]{32,128}$", var.broker_password))
    error_message = "32 letters and digits or more."
  }
}

variable "server_secret" {
  description = "PROCTOR_SECRET: 32 random characters or more."
  type        = string
  sensitive   = true
  validation {
    condition     = length(var.server_secret) >= 32
    error_message = "32 characters or more."
  }
}

variable "provider_secret_arns" {
  description = "Secrets of Secrets Manager with providers' keys, by variable: { OPENAI_API_KEY = \"arn:…\" }"
  type        = map(string)
  default     = {}
}

variable "settings" {
  description = "Further settings that are no secrets, such as PROCTOR_LOG_LEVEL; they win over the module's own."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for name in keys(var.settings) : can(regex("^PROCTOR_[A-Z_]+$", name)) && !can(regex("(SECRET|_KEY|DATABASE_URL|DATABASE_READ_URL|BROKER_URL)$", name))])
    error_message = "Settings are called PROCTOR_…; secrets are given by the variables for them, for they would stand in the task's definition."
  }
}

variable "api_count" {
  type    = number
  default = 2
}

variable "workers" {
  description = "Workers that ask models: how many at least and at most, and processes of each."
  type        = object({ min = number, max = number, concurrency = number })
  default     = { min = 2, max = 10, concurrency = 4 }
}

variable "database_class" {
  type    = string
  default = "db.t4g.medium"
}

variable "redis_class" {
  type    = string
  default = "cache.t4g.small"
}

variable "retention_days" {
  description = "How long logs and backups of the database are kept."
  type        = number
  default     = 30
}
