'use strict';
const make = (name, text, kind) => {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
};
const named = (schema) => {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.anyOf || schema.oneOf) return (schema.anyOf || schema.oneOf).map(named).join(' | ');
  if (schema.type === 'array') return `${named(schema.items)}[]`;
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  return schema.const !== undefined ? JSON.stringify(schema.const) : [].concat(schema.type || 'any').join(' | ');
};
const table = (rows) => {
  const found = make('table');
  for (const cells of rows) {
    const row = make('tr');
    cells.forEach((cell, place) => row.append(place ? make('td', cell) : make('th', cell)));
    found.append(row);
  }
  return found;
};
const operation = (method, path, told) => {
  const shown = make('details');
  shown.id = told.operationId;
  const head = make('summary');
  head.append(make('code', method.toUpperCase(), 'method'), make('code', path), ` – ${told.summary || ''}`);
  shown.append(head, make('p', told.description), make('p', `Permission: ${told['x-permission']}`, 'quiet'));
  if (told.parameters) {
    shown.append(make('h4', 'Parameters'));
    shown.append(table(told.parameters.map((one) => [one.name, one.in, named(one.schema), one.description || ''])));
  }
  const body = told.requestBody && Object.entries(told.requestBody.content)[0];
  if (body) {
    shown.append(make('h4', 'Body'), make('p', `${body[0]}: ${named(body[1].schema)}`));
    if (body[1].example) shown.append(make('pre', JSON.stringify(body[1].example, null, 2)));
  }
  shown.append(make('h4', 'Answers'));
  shown.append(table(Object.entries(told.responses).map(([code, answer]) => {
    const kinds = Object.entries(answer.content || {}).map(([kind, one]) => `${kind} ${named(one.schema)}`);
    return [code, answer.description || named(answer), kinds.join(', ')];
  })));
  return shown;
};
fetch('/api/v1/openapi.json').then((answer) => answer.json()).then((told) => {
  const main = document.getElementById('docs');
  main.append(...told.info.description.trim().split('\n\n').map((text) => make('p', text)));
  const groups = {};
  for (const [path, item] of Object.entries(told.paths))
    for (const [method, one] of Object.entries(item))
      (groups[(one.tags || ['service'])[0]] ||= []).push(operation(method, path, one));
  for (const [name, some] of Object.entries(groups)) main.append(make('h2', name), ...some);
  main.append(make('h2', 'Schemas'));
  for (const [name, schema] of Object.entries(told.components.schemas)) {
    const shown = make('details');
    shown.id = name;
    shown.append(make('summary', name), make('p', schema.description));
    shown.append(table(Object.entries(schema.properties || {}).map(([field, kind]) => [field, named(kind), kind.description || ''])));
    main.append(shown);
  }
  if (location.hash) document.getElementById(location.hash.slice(1))?.setAttribute('open', '');
});
