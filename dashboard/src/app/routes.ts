/** Every address of the dashboard and the screen it shows; those of a first visit at once, others when they are opened. */
import { lazy, type ComponentType } from 'react';
import { isSite } from '@/api/site';
import { match } from '@/router/location';
import BenchmarkScreen from '@/screens/benchmarks/BenchmarkScreen';
import BenchmarksScreen from '@/screens/benchmarks/BenchmarksScreen';
import CompareScreen from '@/screens/compare/CompareScreen';
import HistoryScreen from '@/screens/history/HistoryScreen';
import HomeScreen from '@/screens/home/HomeScreen';
import LeaderboardScreen from '@/screens/leaderboard/LeaderboardScreen';
import RunScreen from '@/screens/run/RunScreen';
import RunsScreen from '@/screens/runs/RunsScreen';
import SamplesScreen from '@/screens/samples/SamplesScreen';
import type { TextKey } from '@/text/text';

export type Parameters = Readonly<Record<string, string>>;
type Screen = ComponentType<{ parameters: Parameters }>;

interface Route {
  pattern: string;
  screen: Screen;
  title: TextKey;
}

// What a first visit does not show is loaded when it is opened; the editor and its YAML are larger than all else together.
const ArenaScreen = lazy(() => import('@/screens/arena/ArenaScreen'));
const DraftScreen = lazy(() => import('@/screens/draft/DraftScreen'));
const PlanScreen = lazy(() => import('@/screens/plan/PlanScreen'));
const PowerScreen = lazy(() => import('@/screens/power/PowerScreen'));
const ProblemScreen = lazy(() => import('@/screens/problems/ProblemScreen'));
const ProblemsScreen = lazy(() => import('@/screens/problems/ProblemsScreen'));
const RescoreScreen = lazy(() => import('@/screens/rescore/RescoreScreen'));
const ReviewScreen = lazy(() => import('@/screens/review/ReviewScreen'));
const SettingsScreen = lazy(() => import('@/screens/settings/SettingsScreen'));
const ScorecardScreen = lazy(() => import('@/screens/scorecard/ScorecardScreen'));
const ScorecardsScreen = lazy(() => import('@/screens/scorecard/ScorecardsScreen'));

export const ROUTES: readonly Route[] = [
  { pattern: '/', screen: HomeScreen, title: 'nav.home' },
  { pattern: '/leaderboard', screen: LeaderboardScreen, title: 'nav.leaderboard' },
  { pattern: '/runs', screen: RunsScreen, title: 'nav.runs' },
  { pattern: '/runs/:run', screen: RunScreen, title: 'nav.runs' },
  { pattern: '/runs/:run/samples', screen: SamplesScreen, title: 'samples.title' },
  { pattern: '/runs/:run/rescore', screen: RescoreScreen, title: 'rescore.do' },
  { pattern: '/compare', screen: CompareScreen, title: 'nav.compare' },
  { pattern: '/power', screen: PowerScreen, title: 'power.title' },
  { pattern: '/arena', screen: ArenaScreen, title: 'nav.arena' },
  { pattern: '/arena/:ask', screen: ArenaScreen, title: 'nav.arena' },
  { pattern: '/history', screen: HistoryScreen, title: 'nav.history' },
  { pattern: '/benchmarks', screen: BenchmarksScreen, title: 'nav.benchmarks' },
  { pattern: '/benchmark-draft', screen: DraftScreen, title: 'draft.title' },
  { pattern: '/benchmarks/:name', screen: BenchmarkScreen, title: 'nav.benchmarks' },
  { pattern: '/problems', screen: ProblemsScreen, title: 'nav.problems' },
  { pattern: '/problems/:name', screen: ProblemScreen, title: 'nav.problems' },
  { pattern: '/scorecards', screen: ScorecardsScreen, title: 'nav.scorecard' },
  { pattern: '/scorecards/:card', screen: ScorecardScreen, title: 'nav.scorecard' },
  { pattern: '/review', screen: ReviewScreen, title: 'nav.review' },
  { pattern: '/review/:queue', screen: ReviewScreen, title: 'nav.review' },
  { pattern: '/plan', screen: PlanScreen, title: 'nav.plan' },
  { pattern: '/plans/:plan/edit', screen: PlanScreen, title: 'nav.plan' },
  { pattern: '/settings', screen: SettingsScreen, title: 'nav.settings' },
];

const ON_A_SITE = new Set(['/', '/leaderboard', '/runs', '/history']);

/** The places one goes to, in the order of the navigation, each with the key after `g`. */
export const PLACES: readonly { to: string; label: TextKey; needs?: string }[] = (
  [
    { to: '/', label: 'nav.home' },
    { to: '/leaderboard', label: 'nav.leaderboard' },
    { to: '/runs', label: 'nav.runs' },
    { to: '/compare', label: 'nav.compare' },
    { to: '/arena', label: 'nav.arena' },
    { to: '/history', label: 'nav.history' },
    { to: '/review', label: 'nav.review' },
    { to: '/problems', label: 'nav.problems' },
    { to: '/benchmarks', label: 'nav.benchmarks' },
    { to: '/plan', label: 'nav.plan', needs: 'run:write' },
  ] as const
).filter(({ to }) => !isSite || ON_A_SITE.has(to));

export function routeOf(pathname: string): { route: Route; parameters: Parameters } | null {
  for (const route of ROUTES) {
    const parameters = match(route.pattern, pathname);
    if (parameters) return { route, parameters };
  }
  return null;
}
