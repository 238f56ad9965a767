{{- define "proctor.name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{- define "proctor.selector" -}}
app.kubernetes.io/name: proctor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "proctor.labels" -}}
{{ include "proctor.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "proctor.host" -}}{{ (urlParse .Values.origin).hostname }}{{- end }}

{{- define "proctor.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* What every pod has: nobody's user, no token, no host, the runtime's system calls. */}}
{{- define "proctor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "proctor.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "proctor.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Image, settings and secrets of every role. */}}
{{- define "proctor.container" -}}
image: {{ include "proctor.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - {name: PROCTOR_SECRETS, value: /run/secrets/proctor}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  - name: POD_IP
    valueFrom: {fieldRef: {fieldPath: status.podIP}}
volumeMounts:
  - {name: secrets, mountPath: /run/secrets/proctor, readOnly: true}
  - {name: home, mountPath: /data}
  - {name: temporary, mountPath: /tmp}
{{- end }}

{{- define "proctor.volumes" -}}
- name: secrets
  secret: {secretName: {{ .Values.secret.existing }}, defaultMode: 0440}
- name: home
  emptyDir: {sizeLimit: {{ .Values.storage.home }}}
- name: temporary
  emptyDir: {sizeLimit: {{ .Values.storage.temporary }}}
{{- end }}

{{/* Not all in one zone, nor on one machine, where that can be had. Takes the release and the component. */}}
{{- define "proctor.spread" -}}
{{- range tuple "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "proctor.selector" $.release | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end }}
