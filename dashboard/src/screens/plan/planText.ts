/** A plan's text as the value the API takes, and places in it for the mistakes that the server names. */
import { isCollection, parseDocument, stringify, type Document, type Node } from 'yaml';

export interface Mistake {
  from: number;
  to: number;
  line: number;
  message: string;
}

interface PlanValue {
  value: unknown;
  /** Where a JSON pointer leads in the text; the nearest parent where it leads nowhere. */
  locate: (pointer: string, message: string) => Mistake;
}

export function readPlan(text: string): PlanValue | { mistakes: Mistake[] } {
  const lineOf = (place: number) => text.slice(0, place).split('\n').length;
  // Aliases multiply what is read; a plan has no use for more than a few.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  if (document.errors.length > 0) {
    const mistakes = document.errors.map(({ pos, message }) => ({
      from: pos[0],
      to: Math.max(pos[1], pos[0] + 1),
      line: lineOf(pos[0]),
      message,
    }));
    return { mistakes };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    return {
      mistakes: [
        { from: 0, to: text.length, line: 1, message: error instanceof Error ? error.message : String(error) },
      ],
    };
  }
  return {
    value,
    locate: (pointer, message) => {
      const [from, to] = rangeOf(document, pointer) ?? [0, Math.max(text.indexOf('\n'), 1)];
      return { from, to, line: lineOf(from), message };
    },
  };
}

function rangeOf(document: Document, pointer: string): [number, number] | null {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let node: Node | null = document.contents;
  let range: [number, number] | null = null;
  for (const step of steps) {
    if (!isCollection(node)) break;
    const next: unknown = node.get(/^\d+$/.test(step) && !node.has(step) ? Number(step) : step, true);
    if (typeof next !== 'object' || next === null || !('range' in next)) break;
    node = next as Node;
    if (node.range) range = [node.range[0], node.range[1]];
  }
  return range;
}

/** An alternative as a plan to run: who takes it was told what has no data, and names this instead. */
export const takenText = (plan: Record<string, unknown>): string =>
  stringify(Object.fromEntries(Object.entries(plan).filter(([name]) => name !== 'gaps')));
