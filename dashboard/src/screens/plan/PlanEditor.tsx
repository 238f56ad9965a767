/** The YAML editor; loaded only where a plan is edited. */
import {
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useBenchmarks, useProviders } from '@/api/queries';
import { t } from '@/text/text';
import { FIELDS } from './fields';
import type { Mistake } from './planText';

interface PlanEditorProps {
  text: string;
  change: (text: string) => void;
  mistakes: readonly Mistake[];
  run: () => void;
}

export default function PlanEditor({ text, change, mistakes, run }: PlanEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ change, run, words: [] as string[] });
  const benchmarks = useBenchmarks();
  const providers = useProviders();
  useEffect(() => {
    latest.current = {
      change,
      run,
      words: [
        ...(benchmarks.data ?? []).map((one) => one.name),
        ...(providers.data ?? []).map((one) => `${one.provider}/`),
      ],
    };
  });

  useEffect(() => {
    if (!place.current) return;
    const complete = (context: CompletionContext): CompletionResult | null => {
      const word = context.matchBefore(/[\w./-]+/);
      if (!word && !context.explicit) return null;
      const line = context.state.doc.lineAt(context.pos).text;
      const isValue = /[:-]\s+[\w./-]*$/.test(line.slice(0, context.pos - context.state.doc.lineAt(context.pos).from));
      const options = isValue
        ? latest.current.words.map((label) => ({ label, type: 'constant' }))
        : Object.entries(FIELDS).map(([label, info]) => ({ label, apply: `${label}: `, type: 'property', info }));
      return { from: word?.from ?? context.pos, options };
    };
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        bracketMatching(),
        yaml(),
        syntaxHighlighting(defaultHighlightStyle),
        lintGutter(),
        autocompletion({ override: [complete] }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': t('plan.file') }),
        keymap.of([
          { key: 'Mod-Shift-Enter', run: () => (latest.current.run(), true) },
          ...completionKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.change(update.state.doc.toString());
        }),
      ],
    });
    const made = new EditorView({ state, parent: place.current });
    view.current = made;
    return () => made.destroy();
    // The editor owns the text once it is made.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  useEffect(() => {
    const made = view.current;
    if (!made) return;
    const length = made.state.doc.length;
    const found = mistakes.map(({ from, to, message }) => ({
      from: Math.min(from, length),
      to: Math.min(to, length),
      severity: 'error' as const,
      message,
    }));
    made.dispatch(setDiagnostics(made.state, found));
  }, [mistakes]);
  return <div className="plan-editor" ref={place} />;
}
