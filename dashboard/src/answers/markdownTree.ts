/** What is taken out of Markdown that a stranger wrote before it is shown: markup, pictures, addresses, outline. */
import type { Element, ElementContent, Root } from 'hast';
import type { Root as MarkdownRoot, RootContent } from 'mdast';
import type { Options as Schema } from 'rehype-sanitize';
import { visibleParts } from '@/components/Foreign';
import { t } from '@/text/text';

const FLOW = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition']);

/** Markup is never read: in a line it stays the text it is, between lines it is shown like code. */
export function keepMarkupAsText() {
  const change = (parent: { type: string; children: RootContent[] }): void => {
    parent.children = parent.children.map((node) => {
      if (node.type === 'html')
        return FLOW.has(parent.type) ? { type: 'code', value: node.value } : { type: 'text', value: node.value };
      if ('children' in node) change(node as { type: string; children: RootContent[] });
      return node;
    });
  };
  return (tree: MarkdownRoot) => change(tree);
}

/** The address as the browser would read it, where a link may lead there: other schemes and places of ours are none. */
export function linkAddress(address: unknown): URL | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null;
  const found = new URL(address);
  return ['http:', 'https:', 'mailto:'].includes(found.protocol) ? found : null;
}

/** Where a link leads, unless its text says the same. */
export function hiddenPlace(text: string, address: URL): string | null {
  const place = address.protocol === 'mailto:' ? address.pathname : address.host;
  if (text === place || text === `mailto:${place}`) return null;
  // A text with other characters, or a name before the host, can be read as another place than it is.
  if (address.protocol === 'mailto:' || address.username !== '' || !/^[\x21-\x7e]+$/.test(text)) return place;
  const written = /^https?:/i.test(text) ? text : `http://${text}`;
  return URL.canParse(written) && new URL(written).hostname === address.hostname ? null : place;
}

function placeOfPicture(address: unknown): string {
  if (typeof address !== 'string') return '';
  if (address.startsWith('//')) return placeOfPicture(`http:${address}`);
  if (!URL.canParse(address)) return '';
  const found = new URL(address);
  return found.host || found.protocol;
}

/** A picture is never asked for: the name of its host stands in its place, and what it shows in words. */
export function namePictures() {
  const change = (parent: Root | Element): void => {
    parent.children = (parent.children as ElementContent[]).map((node) => {
      if (node.type !== 'element') return node;
      if (node.tagName === 'img') return pictureName(node);
      change(node);
      return node;
    });
  };
  return (tree: Root) => change(tree);
}

function pictureName({ properties }: Element): Element {
  const place = placeOfPicture(properties['src']);
  const alt = typeof properties['alt'] === 'string' ? properties['alt'].trim() : '';
  const name = place === '' ? `[${t('answer.image')}]` : `[${t('answer.image')}: ${place}]`;
  return {
    type: 'element',
    tagName: 'samp',
    properties: {},
    children: [{ type: 'text', value: alt === '' ? name : `${name} ${alt}` }],
  };
}

/** Characters that steer the page are made visible, those from entities too. */
export function showControls() {
  const change = (parent: Root | Element): void => {
    parent.children = (parent.children as ElementContent[]).flatMap((node): ElementContent[] => {
      if (node.type === 'element') change(node);
      if (node.type !== 'text') return [node];
      return visibleParts(node.value).map((part) => {
        const text = { type: 'text' as const, value: part.text };
        if (!part.isControl) return text;
        return {
          type: 'element',
          tagName: 'span',
          properties: { className: ['control-character'] },
          children: [text],
        };
      });
    });
  };
  return (tree: Root) => change(tree);
}

/** All that may be shown. Nothing has an id, a class, a title or a source. */
export const SCHEMA: Schema = {
  tagNames: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'blockquote', 'ul', 'ol', 'li', 'hr', 'br', 'pre', 'code', 'samp'],
    ...['em', 'strong', 'del', 'sup', 'a', 'input', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'section'],
  ],
  attributes: { a: ['href'], ol: ['start'], th: ['align'], td: ['align'], input: ['checked'] },
  protocols: { href: ['http', 'https', 'mailto'] },
  ancestors: {},
  required: {},
  clobber: [],
};
