// The page at `/docs/`: Swagger UI, started by a separate script, because the page's policy forbids inline scripts.

export const pageHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tenantry API reference</title>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="stylesheet" href="page.css">
  </head>
  <body>
    <noscript>This page needs JavaScript. The API is described in <a href="../openapi.json">openapi.json</a>.</noscript>
    <main id="reference"></main>
    <script src="swagger-ui-bundle.js"></script>
    <script src="page.js"></script>
  </body>
</html>
`;

export const pageScript = `SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  defaultModelRendering: "example",
  displayRequestDuration: true,
  // Nothing leaves this host, and a token is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
});
`;

/** On narrow screens, puts a parameter's name above its description. */
export const pageStyle = `body { margin: 0; background: #fafafa; }
#reference { overflow-x: clip; }
noscript { display: block; padding: 2rem; font-family: sans-serif; }
.swagger-ui .info { margin: 2rem 0; }
.swagger-ui .info hgroup.main { margin-bottom: 1rem; }
.swagger-ui .scheme-container { padding: 1rem 0; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 0.75rem; }
  .swagger-ui .opblock-tag { display: grid; grid-template-columns: 1fr auto; }
  .swagger-ui .opblock-tag small { grid-row: 2; padding: 0; }
  .swagger-ui .opblock .opblock-summary { padding: 0.5rem; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 4rem; padding: 0.4rem 0; }
  .swagger-ui .opblock .opblock-summary .view-line-link { display: none; }
  .swagger-ui .parameters-container table thead, .swagger-ui table.headers thead { display: none; }
  .swagger-ui .parameters-container table, .swagger-ui .parameters-container tbody,
  .swagger-ui .parameters-container tr, .swagger-ui .parameters-container td {
    display: block; width: auto; max-width: 100%; padding: 0.2rem 0;
  }
  .swagger-ui .parameters-container tr { padding: 0.6rem 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; width: 100%; box-sizing: border-box; }
  .swagger-ui table.responses-table > tbody > tr > td { display: block; width: auto; max-width: 100%; padding: 0.2rem 0; }
  .swagger-ui table.responses-table > thead { display: none; }
  .swagger-ui .responses-inner { padding: 0.75rem; }
  .swagger-ui .dialog-ux .modal-ux { min-width: 0; width: 94vw; }
}
`;
