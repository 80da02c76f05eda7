{{- define "tenantry.name" -}}
{{- if contains "tenantry" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-tenantry" (.Release.Name | trunc 43 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "tenantry.selector" -}}
app.kubernetes.io/name: tenantry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tenantry.labels" -}}
{{ include "tenantry.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
