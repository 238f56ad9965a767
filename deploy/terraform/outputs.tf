output "address" {
  description = "Where the origin's name must lead: a CNAME or an alias."
  value       = aws_lb.this.dns_name
}

output "migration" {
  description = "Run this before each new version."
  value       = "aws ecs run-task --cluster ${aws_ecs_cluster.this.name} --launch-type FARGATE --task-definition ${aws_ecs_task_definition.this["migrate"].family} --network-configuration 'awsvpcConfiguration={subnets=[${join(",", var.private_subnet_ids)}],securityGroups=[${aws_security_group.tasks.id}]}'"
}

output "bucket" {
  value = aws_s3_bucket.this.bucket
}
