CREATE TABLE benchmarks (
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	digest TEXT NOT NULL,
	samples INTEGER NOT NULL,
	tags TEXT NOT NULL,
	first_used_at TEXT NOT NULL,
	CONSTRAINT pk_benchmarks PRIMARY KEY (name, version, digest)
);

CREATE TABLE cache (
	"key" TEXT NOT NULL,
	text TEXT NOT NULL,
	more TEXT,
	finish_reason TEXT NOT NULL,
	input_tokens INTEGER,
	output_tokens INTEGER,
	reasoning_tokens INTEGER,
	cached_tokens INTEGER,
	cost_pico_usd INTEGER,
	latency_seconds FLOAT,
	first_token_seconds FLOAT,
	created_at FLOAT NOT NULL,
	cache_write_tokens INTEGER,
	cost_basis TEXT,
	CONSTRAINT pk_cache PRIMARY KEY ("key")
);

CREATE TABLE id_blocks (
	name TEXT NOT NULL,
	next BIGINT NOT NULL,
	CONSTRAINT pk_id_blocks PRIMARY KEY (name)
);

CREATE TABLE models (
	name TEXT NOT NULL,
	provider TEXT NOT NULL,
	first_used_at TEXT NOT NULL,
	CONSTRAINT pk_models PRIMARY KEY (name)
);

CREATE TABLE runs (
	id TEXT NOT NULL,
	name TEXT,
	status TEXT NOT NULL,
	"plan" TEXT NOT NULL,
	folder TEXT NOT NULL,
	error TEXT,
	version TEXT NOT NULL,
	created_at TEXT NOT NULL,
	started_at TEXT,
	finished_at TEXT,
	seconds FLOAT DEFAULT 0 NOT NULL,
	lease_owner TEXT,
	lease_until FLOAT,
	unanswered_pico_usd INTEGER DEFAULT 0 NOT NULL,
	data TEXT,
	fence INTEGER DEFAULT 0 NOT NULL,
	last_event INTEGER DEFAULT 0 NOT NULL,
	progress FLOAT DEFAULT 0 NOT NULL,
	raw_data TEXT,
	CONSTRAINT pk_runs PRIMARY KEY (id),
	CONSTRAINT ck_runs_status CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled'))
);

CREATE INDEX ix_runs_created_at_id ON runs (created_at, id);

CREATE TABLE samples (
	digest TEXT NOT NULL,
	sample_id TEXT NOT NULL,
	input TEXT NOT NULL,
	target TEXT,
	prompt TEXT NOT NULL,
	body TEXT NOT NULL,
	CONSTRAINT pk_samples PRIMARY KEY (digest)
);

CREATE TABLE submissions (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	problem TEXT NOT NULL,
	problem_digest TEXT NOT NULL,
	problem_folder TEXT,
	revision TEXT NOT NULL,
	details TEXT NOT NULL,
	created_at TEXT NOT NULL,
	CONSTRAINT pk_submissions PRIMARY KEY (id)
);

CREATE INDEX ix_submissions_problem ON submissions (problem);

CREATE TABLE evaluations (
	id INTEGER NOT NULL,
	run_id TEXT NOT NULL,
	position INTEGER NOT NULL,
	model TEXT NOT NULL,
	model_spec TEXT NOT NULL,
	benchmark TEXT NOT NULL,
	benchmark_spec TEXT NOT NULL,
	version TEXT NOT NULL,
	digest TEXT NOT NULL,
	samples INTEGER NOT NULL,
	epochs INTEGER NOT NULL,
	options TEXT NOT NULL,
	scorers TEXT NOT NULL,
	metrics TEXT NOT NULL,
	tags TEXT NOT NULL,
	summary TEXT,
	summary_revision TEXT,
	month INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_evaluations PRIMARY KEY (id),
	CONSTRAINT fk_evaluations_benchmark FOREIGN KEY(benchmark, version, digest) REFERENCES benchmarks (name, version, digest),
	CONSTRAINT uq_evaluations_run_id_position UNIQUE (run_id, position),
	CONSTRAINT fk_evaluations_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
	CONSTRAINT fk_evaluations_model FOREIGN KEY(model) REFERENCES models (name)
);

CREATE INDEX ix_evaluations_benchmark_model ON evaluations (benchmark, model);

CREATE TABLE events (
	run_id TEXT NOT NULL,
	number INTEGER NOT NULL,
	at TEXT NOT NULL,
	kind TEXT NOT NULL,
	data TEXT NOT NULL,
	CONSTRAINT pk_events PRIMARY KEY (run_id, number),
	CONSTRAINT fk_events_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE INDEX ix_events_run_id_kind_number ON events (run_id, kind, number);

CREATE TABLE batches (
	id INTEGER NOT NULL,
	evaluation_id INTEGER NOT NULL,
	token TEXT NOT NULL,
	remote_id TEXT,
	requests INTEGER NOT NULL,
	reserved_pico_usd INTEGER NOT NULL,
	created_at FLOAT NOT NULL,
	ended_as TEXT,
	CONSTRAINT pk_batches PRIMARY KEY (id),
	CONSTRAINT fk_batches_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);

CREATE INDEX ix_batches_evaluation_id ON batches (evaluation_id);

CREATE TABLE responses (
	id INTEGER NOT NULL,
	evaluation_id INTEGER NOT NULL,
	trial_id TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	sample_id TEXT NOT NULL,
	sample_digest TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	category TEXT,
	cluster TEXT,
	cache_key TEXT,
	is_cached BOOLEAN NOT NULL,
	error TEXT,
	retries INTEGER NOT NULL,
	finish_reason TEXT,
	input_tokens INTEGER,
	output_tokens INTEGER,
	reasoning_tokens INTEGER,
	cached_tokens INTEGER,
	cost_pico_usd INTEGER,
	latency_seconds FLOAT,
	first_token_seconds FLOAT,
	created_at FLOAT NOT NULL,
	cache_write_tokens INTEGER,
	cost_basis TEXT,
	month INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_responses PRIMARY KEY (id),
	CONSTRAINT uq_responses_evaluation_id_trial_id_attempt UNIQUE (evaluation_id, trial_id, attempt),
	CONSTRAINT fk_responses_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE,
	CONSTRAINT fk_responses_sample_digest FOREIGN KEY(sample_digest) REFERENCES samples (digest)
);

CREATE INDEX ix_responses_cache_key ON responses (cache_key) WHERE cache_key IS NOT NULL;

CREATE INDEX ix_responses_evaluation_id ON responses (evaluation_id);

CREATE INDEX ix_responses_repeated ON responses (evaluation_id, trial_id, attempt) WHERE attempt > 0;

CREATE TABLE batch_trials (
	batch_id INTEGER NOT NULL,
	trial_id TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	position INTEGER NOT NULL,
	CONSTRAINT pk_batch_trials PRIMARY KEY (batch_id, trial_id),
	CONSTRAINT fk_batch_trials_batch_id FOREIGN KEY(batch_id) REFERENCES batches (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE bodies (
	response_id INTEGER NOT NULL,
	text TEXT NOT NULL,
	more TEXT,
	month INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_bodies PRIMARY KEY (response_id),
	CONSTRAINT fk_bodies_response_id FOREIGN KEY(response_id) REFERENCES responses (id) ON DELETE CASCADE
);

CREATE TABLE scores (
	response_id INTEGER NOT NULL,
	scorer TEXT NOT NULL,
	version TEXT NOT NULL,
	value FLOAT,
	is_invalid BOOLEAN NOT NULL,
	answer TEXT,
	reason TEXT NOT NULL,
	details TEXT,
	is_unreadable BOOLEAN DEFAULT false NOT NULL,
	is_forgeable BOOLEAN DEFAULT false NOT NULL,
	weight INTEGER,
	covers FLOAT,
	month INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_scores PRIMARY KEY (response_id, scorer, version),
	CONSTRAINT fk_scores_response_id FOREIGN KEY(response_id) REFERENCES responses (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
