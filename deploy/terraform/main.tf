# Proctor on AWS: ECS (Fargate) behind a load balancer, RDS, ElastiCache, S3. Everything is in the VPC that is given.

data "aws_region" "this" {}

locals {
  port = 8000
  secrets = {
    PROCTOR_DATABASE_URL = "postgresql://proctor:${var.database_password}@${aws_db_instance.this.endpoint}/proctor?sslmode=require"
    PROCTOR_BROKER_URL   = "rediss://:${var.broker_password}@${aws_elasticache_replication_group.this.primary_endpoint_address}:6379/0"
    PROCTOR_SECRET       = var.server_secret
  }
  secret_arns = merge({ for name, secret in aws_secretsmanager_secret.this : name => secret.arn }, var.provider_secret_arns)
  settings = {
    PROCTOR_ARTIFACTS_URL = "s3://${aws_s3_bucket.this.bucket}/artifacts?region=${data.aws_region.this.name}"
    PROCTOR_BACKUPS_URL   = "s3://${aws_s3_bucket.this.bucket}/backups?region=${data.aws_region.this.name}"
    AWS_REGION            = data.aws_region.this.name
    TMPDIR                = "/data"
  }
  # Fargate has no sandbox for code that models wrote: that pool runs on machines of its own (docs/operations/terraform.md).
  roles = {
    api     = { cpu = 1024, memory = 2048, command = ["serve", "--host", "0.0.0.0", "--port", tostring(local.port), "--origin", var.origin, "--trusted-proxy", var.vpc_cidr] }
    worker  = { cpu = 2048, memory = 4096, command = ["worker", "--pools", "default", "--concurrency", tostring(var.workers.concurrency)] }
    beat    = { cpu = 512, memory = 1024, command = ["worker", "--pools", "default", "--concurrency", "1", "--beat"] }
    migrate = { cpu = 512, memory = 1024, command = ["db", "upgrade"] }
  }
}

resource "aws_ecs_cluster" "this" {
  name = var.name
  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/proctor/${var.name}"
  retention_in_days = var.retention_days
}

resource "aws_ecs_task_definition" "this" {
  for_each                 = local.roles
  family                   = "${var.name}-${each.key}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.cpu
  memory                   = each.value.memory
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task.arn

  # Fargate gives a volume the owner that the image's folder has: /data is the image's own volume, /tmp is none.
  volume { name = "home" }

  container_definitions = jsonencode([{
    name                   = "proctor"
    image                  = var.image
    command                = each.value.command
    essential              = true
    user                   = "10001:10001"
    readonlyRootFilesystem = true
    stopTimeout            = each.key == "worker" ? 90 : 30
    linuxParameters        = { capabilities = { drop = ["ALL"] } }
    environment            = [for name, value in merge(local.settings, var.settings) : { name = name, value = value }]
    secrets                = [for name, arn in local.secret_arns : { name = name, valueFrom = arn }]
    mountPoints            = [{ sourceVolume = "home", containerPath = "/data" }]
    portMappings           = each.key == "api" ? [{ containerPort = local.port, protocol = "tcp" }] : []
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = data.aws_region.this.name
        awslogs-stream-prefix = each.key
      }
    }
  }])
}

resource "aws_ecs_service" "this" {
  for_each                           = { api = var.api_count, worker = var.workers.min, beat = 1 }
  name                               = each.key
  cluster                            = aws_ecs_cluster.this.id
  task_definition                    = aws_ecs_task_definition.this[each.key].arn
  desired_count                      = each.value
  launch_type                        = "FARGATE"
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  propagate_tags                     = "SERVICE"

  network_configuration {
    subnets          = var.private_subnet_ids
    security_groups  = [aws_security_group.tasks.id]
    assign_public_ip = false
  }

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  dynamic "load_balancer" {
    for_each = each.key == "api" ? [1] : []
    content {
      target_group_arn = aws_lb_target_group.this.arn
      container_name   = "proctor"
      container_port   = local.port
    }
  }

  lifecycle { ignore_changes = [desired_count] }
  depends_on = [aws_lb_listener.https]
}

resource "aws_appautoscaling_target" "this" {
  for_each           = { api = { min = var.api_count, max = var.api_count * 4 }, worker = { min = var.workers.min, max = var.workers.max } }
  service_namespace  = "ecs"
  scalable_dimension = "ecs:service:DesiredCount"
  resource_id        = "service/${aws_ecs_cluster.this.name}/${aws_ecs_service.this[each.key].name}"
  min_capacity       = each.value.min
  max_capacity       = each.value.max
}

resource "aws_appautoscaling_policy" "this" {
  for_each = {
    for pair in setproduct(keys(aws_appautoscaling_target.this), [["CPU", 70], ["Memory", 80]]) :
    "${pair[0]}-${pair[1][0]}" => { role = pair[0], metric = "ECSServiceAverage${pair[1][0]}Utilization", goal = pair[1][1] }
  }
  name               = each.key
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this[each.value.role].service_namespace
  scalable_dimension = aws_appautoscaling_target.this[each.value.role].scalable_dimension
  resource_id        = aws_appautoscaling_target.this[each.value.role].resource_id
  target_tracking_scaling_policy_configuration {
    target_value       = each.value.goal
    scale_in_cooldown  = 600
    scale_out_cooldown = 60
    predefined_metric_specification { predefined_metric_type = each.value.metric }
  }
}
