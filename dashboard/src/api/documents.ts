/** The documents of the API by their names; generated from its OpenAPI, never retyped. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type AcceptedRun = Schemas['AcceptedRun'];
export type BenchmarkDescription = Schemas['BenchmarkDescription'];
export type ComparedSide = Schemas['ComparedSide'];
export type Comparison = Schemas['Comparison'];
export type Comparisons = Schemas['Comparisons'];
export type DryRun = Schemas['DryRun'];
export type EvaluationSummary = Schemas['EvaluationSummary'];
export type FlippedSample = Schemas['FlippedSample'];
export type Leaderboard = Schemas['Leaderboard'];
export type LeaderboardRow = Schemas['LeaderboardRow'];
export type LeaderboardTable = Schemas['LeaderboardTable'];
export type ListedBenchmark = Schemas['BenchmarkInfo'];
export type ListedProblem = Schemas['ListedProblem'];
export type ListedRun = Schemas['ListedRun'];
export type MarkedProgram = Schemas['MarkedProgram'];
export type MetricEstimate = Schemas['MetricEstimate'];
export type PlanDraft = Schemas['PlanDraft'];
export type ProblemDescription = Schemas['ProblemDescription'];
export type ProgramCard = Schemas['ProgramCard'];
export type ProgramRanking = Schemas['ProgramRanking'];
export type ProviderDescription = Schemas['ProviderDescription'];
export type Rate = Schemas['Rate'];
export type ResultDetails = Schemas['ResultDetails'];
export type ResultPage = Schemas['ResultPage'];
export type ReviewItem = Schemas['ReviewItem'];
export type RunDocument = Schemas['ServedRun'];
export type RunPage = Schemas['RunPage'];
export type RunReview = Schemas['RunReview'];
export type ScorecardDifference = Schemas['ScorecardDifference'];
export type ScorerReview = Schemas['ScorerReview'];
export type ServerVersion = Schemas['ServerVersion'];
export type SignedIn = Schemas['SignedIn'];
export type ListedWay = Schemas['ListedWay'];
export type TrialResult = Schemas['ServedResult'];
