/** Markdown that a model wrote; loaded only where somebody wants to see it so. */
import type { Element, ElementContent } from 'hast';
import type { ReactNode } from 'react';
import Markdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Wide } from '@/components/Basics';
import { t } from '@/text/text';
import { hiddenPlace, keepMarkupAsText, linkAddress, namePictures, SCHEMA, showControls } from './markdownTree';

const textOf = (node: Element | ElementContent | undefined): string => {
  if (node === undefined) return '';
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
};

function ForeignLink({ node, href, children }: { node?: Element; href?: string; children?: ReactNode }) {
  const address = linkAddress(href);
  if (address === null) return children;
  const hidden = hiddenPlace(textOf(node), address);
  return (
    <a href={address.href} target="_blank" rel="noreferrer noopener">
      {children}
      {hidden !== null && <span className="muted small"> ({hidden})</span>}
    </a>
  );
}

/** No heading of the page's: what an answer is divided by is not what the page is divided by. */
const heading = (level: number) =>
  function AnswerHeading({ children }: { children?: ReactNode }) {
    return <p className={`markdown-heading level-${level}`}>{children}</p>;
  };

const COMPONENTS: Components = {
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  section: 'div',
  a: ForeignLink,
  pre: ({ children }) => (
    <Wide label={t('answer.code')} isGrid>
      <pre>{children}</pre>
    </Wide>
  ),
  table: ({ children }) => (
    <Wide label={t('answer.table')} isGrid>
      <table>{children}</table>
    </Wide>
  ),
  // A cell without words heads nothing.
  th: ({ node, children, style }) => {
    const Cell = textOf(node).trim() === '' ? 'td' : 'th';
    return <Cell style={style}>{children}</Cell>;
  },
  input: ({ checked }) => <>{checked === true ? '[x]' : '[ ]'}</>,
};

export default function MarkdownText({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      <Markdown
        remarkPlugins={[remarkGfm, keepMarkupAsText]}
        rehypePlugins={[namePictures, [rehypeSanitize, SCHEMA], showControls]}
        remarkRehypeOptions={{ footnoteLabel: t('answer.footnotes'), footnoteBackContent: '' }}
        components={COMPONENTS}
        // Sanitising and `linkAddress` decide what an address may be; pictures have none.
        urlTransform={(address) => address}
      >
        {text}
      </Markdown>
    </div>
  );
}
