CREATE TABLE audit (
	number INTEGER NOT NULL,
	at TEXT NOT NULL,
	who TEXT NOT NULL,
	what TEXT NOT NULL,
	object TEXT NOT NULL,
	project TEXT NOT NULL,
	address TEXT NOT NULL,
	outcome TEXT NOT NULL,
	"before" TEXT NOT NULL,
	hash TEXT NOT NULL,
	CONSTRAINT pk_audit PRIMARY KEY (number)
);

CREATE TABLE benchmarks (
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	digest TEXT NOT NULL,
	samples INTEGER NOT NULL,
	tags TEXT NOT NULL,
	first_used_at TEXT NOT NULL,
	CONSTRAINT pk_benchmarks PRIMARY KEY (name, version, digest)
);

CREATE TABLE budgets (
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	cost_pico_usd INTEGER,
	period TEXT NOT NULL,
	runs_at_once INTEGER,
	set_by TEXT NOT NULL,
	set_at TEXT NOT NULL,
	storage_bytes INTEGER,
	CONSTRAINT pk_budgets PRIMARY KEY (kind, subject)
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
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_cache PRIMARY KEY ("key")
);

CREATE TABLE files (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	media_type TEXT NOT NULL,
	size_bytes INTEGER NOT NULL,
	artifact TEXT NOT NULL,
	text_artifact TEXT,
	pages INTEGER,
	width INTEGER,
	height INTEGER,
	author TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_files PRIMARY KEY (id)
);

CREATE INDEX ix_files_expires_at ON files (expires_at);

CREATE INDEX ix_files_project_id ON files (project, id);

CREATE TABLE id_blocks (
	name TEXT NOT NULL,
	next BIGINT NOT NULL,
	CONSTRAINT pk_id_blocks PRIMARY KEY (name)
);

CREATE TABLE idempotency_keys (
	project TEXT DEFAULT 'local' NOT NULL,
	"key" TEXT NOT NULL,
	digest TEXT NOT NULL,
	run_id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	CONSTRAINT pk_idempotency_keys PRIMARY KEY (project, "key")
);

CREATE TABLE model_lists (
	id TEXT NOT NULL,
	provider TEXT NOT NULL,
	base_url TEXT NOT NULL,
	fetched_at FLOAT NOT NULL,
	project TEXT,
	CONSTRAINT pk_model_lists PRIMARY KEY (id)
);

CREATE INDEX ix_model_lists_provider_fetched_at ON model_lists (provider, fetched_at);

CREATE TABLE models (
	name TEXT NOT NULL,
	provider TEXT NOT NULL,
	first_used_at TEXT NOT NULL,
	CONSTRAINT pk_models PRIMARY KEY (name)
);

CREATE TABLE own_benchmarks (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	version TEXT NOT NULL,
	entry TEXT NOT NULL,
	files TEXT NOT NULL,
	description TEXT NOT NULL,
	author TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	archived_at FLOAT,
	project TEXT DEFAULT 'local' NOT NULL,
	size_bytes INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_own_benchmarks PRIMARY KEY (id),
	CONSTRAINT uq_own_benchmarks_project_name_version UNIQUE (project, name, version)
);

CREATE INDEX ix_own_benchmarks_project_id ON own_benchmarks (project, id);

CREATE TABLE playground_asks (
	id TEXT NOT NULL,
	author TEXT NOT NULL,
	kind TEXT NOT NULL,
	request TEXT NOT NULL,
	is_blind BOOLEAN NOT NULL,
	revealed_at TEXT,
	created_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_playground_asks PRIMARY KEY (id)
);

CREATE INDEX ix_playground_asks_project_id ON playground_asks (project, id);

CREATE TABLE project_turns (
	project TEXT NOT NULL,
	served_at FLOAT NOT NULL,
	CONSTRAINT pk_project_turns PRIMARY KEY (project)
);

CREATE TABLE projects (
	name TEXT NOT NULL,
	created_at TEXT NOT NULL,
	archived_at TEXT,
	retention TEXT,
	CONSTRAINT pk_projects PRIMARY KEY (name)
);

CREATE TABLE provider_keys (
	id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	provider TEXT NOT NULL,
	origin TEXT NOT NULL,
	base_url TEXT NOT NULL,
	sealed TEXT,
	author TEXT NOT NULL,
	created_at TEXT NOT NULL,
	CONSTRAINT pk_provider_keys PRIMARY KEY (id),
	CONSTRAINT uq_provider_keys_project_provider_origin UNIQUE (project, provider, origin)
);

CREATE TABLE reservations (
	run_id TEXT NOT NULL,
	project TEXT NOT NULL,
	user_id TEXT,
	key_id TEXT,
	reserved_pico_usd INTEGER NOT NULL,
	is_settled BOOLEAN NOT NULL,
	created_at FLOAT NOT NULL,
	CONSTRAINT pk_reservations PRIMARY KEY (run_id)
);

CREATE INDEX ix_reservations_key_id ON reservations (key_id);

CREATE INDEX ix_reservations_project ON reservations (project);

CREATE INDEX ix_reservations_user_id ON reservations (user_id);

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
	project TEXT DEFAULT 'local' NOT NULL,
	started_by TEXT,
	plan_id TEXT,
	CONSTRAINT pk_runs PRIMARY KEY (id),
	CONSTRAINT ck_runs_status CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled'))
);

CREATE INDEX ix_runs_created_at_id ON runs (created_at, id);

CREATE INDEX ix_runs_project_created_at_id ON runs (project, created_at, id);

CREATE TABLE samples (
	digest TEXT NOT NULL,
	sample_id TEXT NOT NULL,
	input TEXT NOT NULL,
	target TEXT,
	prompt TEXT NOT NULL,
	body TEXT NOT NULL,
	CONSTRAINT pk_samples PRIMARY KEY (digest)
);

CREATE TABLE saved_plans (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	"plan" TEXT NOT NULL,
	revision INTEGER NOT NULL,
	author TEXT NOT NULL,
	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_saved_plans PRIMARY KEY (id)
);

CREATE INDEX ix_saved_plans_project_id ON saved_plans (project, id);

CREATE TABLE submission_queue (
	id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	name TEXT NOT NULL,
	problem TEXT NOT NULL,
	artifact TEXT NOT NULL,
	form TEXT NOT NULL,
	refused TEXT NOT NULL,
	is_measuring BOOLEAN NOT NULL,
	author TEXT NOT NULL,
	state TEXT DEFAULT 'queued' NOT NULL,
	error TEXT,
	created_at FLOAT NOT NULL,
	fence INTEGER DEFAULT 0 NOT NULL,
	lease_owner TEXT,
	lease_until FLOAT,
	lost_leases INTEGER DEFAULT 0 NOT NULL,
	size_bytes INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_submission_queue PRIMARY KEY (id),
	CONSTRAINT ck_submission_queue_state CHECK (state IN ('queued', 'running', 'failed'))
);

CREATE INDEX ix_submission_queue_state_created_at ON submission_queue (state, created_at);

CREATE TABLE submissions (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	problem TEXT NOT NULL,
	problem_digest TEXT NOT NULL,
	problem_folder TEXT,
	revision TEXT NOT NULL,
	details TEXT NOT NULL,
	created_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_submissions PRIMARY KEY (id)
);

CREATE INDEX ix_submissions_problem ON submissions (problem);

CREATE TABLE users (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	password_hash TEXT,
	is_admin BOOLEAN NOT NULL,
	created_at TEXT NOT NULL,
	disabled_at TEXT,
	CONSTRAINT pk_users PRIMARY KEY (id),
	CONSTRAINT uq_users_name UNIQUE (name)
);

CREATE TABLE webhooks (
	id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	url TEXT NOT NULL,
	events TEXT NOT NULL,
	sealed TEXT NOT NULL,
	former TEXT,
	former_until FLOAT NOT NULL,
	position INTEGER NOT NULL,
	author TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	CONSTRAINT pk_webhooks PRIMARY KEY (id)
);

CREATE TABLE workers (
	name TEXT NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	version TEXT NOT NULL,
	pools TEXT NOT NULL,
	started_at FLOAT NOT NULL,
	seen_at FLOAT NOT NULL,
	doing TEXT,
	doing_since FLOAT,
	chunks_done INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_workers PRIMARY KEY (name)
);

CREATE TABLE api_keys (
	id TEXT NOT NULL,
	hash TEXT NOT NULL,
	name TEXT NOT NULL,
	project TEXT NOT NULL,
	user_id TEXT,
	scopes TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	expires_at FLOAT,
	last_used_at FLOAT,
	revoked_at FLOAT,
	CONSTRAINT pk_api_keys PRIMARY KEY (id),
	CONSTRAINT fk_api_keys_project FOREIGN KEY(project) REFERENCES projects (name),
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_api_keys_project ON api_keys (project);

CREATE TABLE comments (
	id TEXT NOT NULL,
	run_id TEXT NOT NULL,
	response_id INTEGER,
	author TEXT NOT NULL,
	text TEXT NOT NULL,
	created_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_comments PRIMARY KEY (id),
	CONSTRAINT fk_comments_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_comments_run_id_id ON comments (run_id, id);

CREATE TABLE deliveries (
	id TEXT NOT NULL,
	webhook_id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	run_id TEXT NOT NULL,
	number INTEGER NOT NULL,
	event TEXT NOT NULL,
	body TEXT NOT NULL,
	state TEXT DEFAULT 'waiting' NOT NULL,
	attempts INTEGER DEFAULT 0 NOT NULL,
	next_at FLOAT NOT NULL,
	created_at FLOAT NOT NULL,
	ended_at FLOAT,
	status INTEGER,
	answer TEXT,
	error TEXT,
	CONSTRAINT pk_deliveries PRIMARY KEY (id),
	CONSTRAINT ck_deliveries_state CHECK (state IN ('waiting', 'delivered', 'failed')),
	CONSTRAINT uq_deliveries_webhook_id_run_id_number UNIQUE (webhook_id, run_id, number),
	CONSTRAINT fk_deliveries_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);

CREATE INDEX ix_deliveries_run_id ON deliveries (run_id);

CREATE INDEX ix_deliveries_state_next_at ON deliveries (state, next_at);

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
	project TEXT DEFAULT 'local' NOT NULL,
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
	position INTEGER,
	CONSTRAINT pk_events PRIMARY KEY (run_id, number),
	CONSTRAINT fk_events_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE INDEX ix_events_position ON events (position);

CREATE INDEX ix_events_run_id_kind_number ON events (run_id, kind, number);

CREATE INDEX ix_events_unnumbered ON events (run_id, number) WHERE position IS NULL;

CREATE TABLE file_uses (
	run_id TEXT NOT NULL,
	file_id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_file_uses PRIMARY KEY (run_id, file_id),
	CONSTRAINT fk_file_uses_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
	CONSTRAINT fk_file_uses_file_id FOREIGN KEY(file_id) REFERENCES files (id) ON DELETE CASCADE
);

CREATE INDEX ix_file_uses_file_id ON file_uses (file_id);

CREATE TABLE identities (
	issuer TEXT NOT NULL,
	subject TEXT NOT NULL,
	user_id TEXT NOT NULL,
	created_at TEXT NOT NULL,
	CONSTRAINT pk_identities PRIMARY KEY (issuer, subject),
	CONSTRAINT uq_identities_issuer_user_id UNIQUE (issuer, user_id),
	CONSTRAINT fk_identities_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE TABLE labels (
	run_id TEXT NOT NULL,
	response_id INTEGER NOT NULL,
	author TEXT NOT NULL,
	value FLOAT NOT NULL,
	note TEXT NOT NULL,
	labelled_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_labels PRIMARY KEY (run_id, response_id, author),
	CONSTRAINT fk_labels_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE links (
	hash TEXT NOT NULL,
	user_id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	used_at FLOAT,
	CONSTRAINT pk_links PRIMARY KEY (hash),
	CONSTRAINT fk_links_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_links_user_id ON links (user_id);

CREATE TABLE listed_models (
	list_id TEXT NOT NULL,
	name TEXT NOT NULL,
	context_tokens INTEGER,
	input_usd_per_million TEXT,
	output_usd_per_million TEXT,
	cached_usd_per_million TEXT,
	written_usd_per_million TEXT,
	reasoning_usd_per_million TEXT,
	capabilities TEXT NOT NULL,
	project TEXT,
	CONSTRAINT pk_listed_models PRIMARY KEY (list_id, name),
	CONSTRAINT fk_listed_models_list_id FOREIGN KEY(list_id) REFERENCES model_lists (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE INDEX ix_listed_models_name ON listed_models (name);

CREATE TABLE members (
	project TEXT NOT NULL,
	user_id TEXT NOT NULL,
	role TEXT NOT NULL,
	added_at TEXT NOT NULL,
	CONSTRAINT pk_members PRIMARY KEY (project, user_id),
	CONSTRAINT fk_members_project FOREIGN KEY(project) REFERENCES projects (name),
	CONSTRAINT fk_members_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE TABLE playground_answers (
	ask_id TEXT NOT NULL,
	slot TEXT NOT NULL,
	position INTEGER NOT NULL,
	model TEXT NOT NULL,
	state TEXT NOT NULL,
	text TEXT NOT NULL,
	reasoning TEXT NOT NULL,
	details TEXT NOT NULL,
	held_pico_usd INTEGER NOT NULL,
	beat_at FLOAT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_playground_answers PRIMARY KEY (ask_id, slot),
	CONSTRAINT ck_playground_answers_state CHECK (state IN ('waiting', 'streaming', 'complete', 'failed', 'stopped')),
	CONSTRAINT fk_playground_answers_ask_id FOREIGN KEY(ask_id) REFERENCES playground_asks (id) ON DELETE CASCADE
);

CREATE TABLE playground_files (
	ask_id TEXT NOT NULL,
	position INTEGER NOT NULL,
	name TEXT NOT NULL,
	media_type TEXT NOT NULL,
	content TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	size_bytes INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_playground_files PRIMARY KEY (ask_id, position),
	CONSTRAINT fk_playground_files_ask_id FOREIGN KEY(ask_id) REFERENCES playground_asks (id) ON DELETE CASCADE
);

CREATE TABLE playground_votes (
	ask_id TEXT NOT NULL,
	voter TEXT NOT NULL,
	best TEXT NOT NULL,
	is_blind BOOLEAN NOT NULL,
	voted_at TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_playground_votes PRIMARY KEY (ask_id, voter),
	CONSTRAINT fk_playground_votes_ask_id FOREIGN KEY(ask_id) REFERENCES playground_asks (id) ON DELETE CASCADE
);

CREATE TABLE queue (
	run_id TEXT NOT NULL,
	priority INTEGER NOT NULL,
	accepted_at FLOAT NOT NULL,
	prepared_at FLOAT,
	begun_at FLOAT,
	finished_at FLOAT,
	served_at FLOAT DEFAULT 0 NOT NULL,
	progressed_at FLOAT DEFAULT 0 NOT NULL,
	announced_at FLOAT,
	lease_owner TEXT,
	lease_until FLOAT,
	fence INTEGER DEFAULT 0 NOT NULL,
	lost_leases INTEGER DEFAULT 0 NOT NULL,
	chunks_open INTEGER DEFAULT 0 NOT NULL,
	trials INTEGER DEFAULT 0 NOT NULL,
	tally TEXT DEFAULT '{}' NOT NULL,
	stop_reason TEXT,
	given_up TEXT DEFAULT '{}' NOT NULL,
	taken_pico_usd INTEGER DEFAULT 0 NOT NULL,
	content TEXT DEFAULT '{}' NOT NULL,
	looked INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_queue PRIMARY KEY (run_id),
	CONSTRAINT fk_queue_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_queue_open ON queue (priority, served_at) WHERE finished_at IS NULL;

CREATE TABLE rescorings (
	id TEXT NOT NULL,
	run_id TEXT NOT NULL,
	project TEXT DEFAULT 'local' NOT NULL,
	request TEXT NOT NULL,
	started_by TEXT,
	state TEXT DEFAULT 'queued' NOT NULL,
	is_wanted BOOLEAN DEFAULT true NOT NULL,
	done INTEGER DEFAULT 0 NOT NULL,
	total INTEGER DEFAULT 0 NOT NULL,
	fault TEXT,
	error TEXT,
	result TEXT,
	unanswered_pico_usd INTEGER DEFAULT 0 NOT NULL,
	created_at FLOAT NOT NULL,
	ended_at FLOAT,
	fence INTEGER DEFAULT 0 NOT NULL,
	lease_owner TEXT,
	lease_until FLOAT,
	lost_leases INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_rescorings PRIMARY KEY (id),
	CONSTRAINT ck_rescorings_state CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	CONSTRAINT fk_rescorings_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_rescorings_open ON rescorings (state, id) WHERE ended_at IS NULL;

CREATE INDEX ix_rescorings_run_id ON rescorings (run_id);

CREATE TABLE run_tags (
	run_id TEXT NOT NULL,
	tag TEXT NOT NULL,
	CONSTRAINT pk_run_tags PRIMARY KEY (run_id, tag),
	CONSTRAINT fk_run_tags_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE INDEX ix_run_tags_tag ON run_tags (tag);

CREATE TABLE sessions (
	hash TEXT NOT NULL,
	user_id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	seen_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	address TEXT NOT NULL,
	agent TEXT NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (hash),
	CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id)
);

CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE token_families (
	id TEXT NOT NULL,
	user_id TEXT NOT NULL,
	project TEXT NOT NULL,
	scopes TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	used_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	address TEXT NOT NULL,
	agent TEXT NOT NULL,
	CONSTRAINT pk_token_families PRIMARY KEY (id),
	CONSTRAINT fk_token_families_user_id FOREIGN KEY(user_id) REFERENCES users (id),
	CONSTRAINT fk_token_families_project FOREIGN KEY(project) REFERENCES projects (name)
);

CREATE INDEX ix_token_families_user_id ON token_families (user_id);

CREATE TABLE worker_time (
	run_id TEXT NOT NULL,
	day INTEGER NOT NULL,
	seconds FLOAT NOT NULL,
	CONSTRAINT pk_worker_time PRIMARY KEY (run_id, day),
	CONSTRAINT fk_worker_time_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

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

CREATE TABLE chunks (
	id INTEGER NOT NULL,
	run_id TEXT NOT NULL,
	evaluation_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	count INTEGER NOT NULL,
	pool TEXT NOT NULL,
	priority INTEGER NOT NULL,
	state TEXT DEFAULT 'waiting' NOT NULL,
	not_before FLOAT DEFAULT 0 NOT NULL,
	fence INTEGER DEFAULT 0 NOT NULL,
	lease_owner TEXT,
	lease_until FLOAT,
	lost_leases INTEGER DEFAULT 0 NOT NULL,
	refusals INTEGER DEFAULT 0 NOT NULL,
	error TEXT,
	is_wanted BOOLEAN DEFAULT true NOT NULL,
	announced_at FLOAT,
	tally TEXT DEFAULT '{}' NOT NULL,
	held_pico_usd INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_chunks PRIMARY KEY (id),
	CONSTRAINT ck_chunks_state CHECK (state IN ('waiting', 'leased', 'finished', 'split', 'dropped')),
	CONSTRAINT fk_chunks_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
	CONSTRAINT fk_chunks_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);

CREATE INDEX ix_chunks_evaluation_id ON chunks (evaluation_id);

CREATE INDEX ix_chunks_open ON chunks (state, pool) WHERE state IN ('waiting', 'leased');

CREATE INDEX ix_chunks_run_id_state_position ON chunks (run_id, state, position);

CREATE TABLE packed_columns (
	evaluation_id INTEGER NOT NULL,
	generation BIGINT NOT NULL,
	segment INTEGER NOT NULL,
	name TEXT NOT NULL,
	data BLOB NOT NULL,
	CONSTRAINT pk_packed_columns PRIMARY KEY (evaluation_id, generation, segment, name),
	CONSTRAINT fk_packed_columns_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);

CREATE TABLE packed_words (
	evaluation_id INTEGER NOT NULL,
	generation BIGINT NOT NULL,
	segment INTEGER NOT NULL,
	field INTEGER NOT NULL,
	word TEXT NOT NULL,
	part INTEGER NOT NULL,
	places BLOB NOT NULL,
	CONSTRAINT pk_packed_words PRIMARY KEY (evaluation_id, generation, segment, field, word, part),
	CONSTRAINT fk_packed_words_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE packings (
	evaluation_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	generation BIGINT NOT NULL,
	revision TEXT NOT NULL,
	fence BIGINT NOT NULL,
	scorers TEXT NOT NULL,
	results BIGINT NOT NULL,
	detail TEXT NOT NULL,
	is_complete BOOLEAN NOT NULL,
	claimed_until FLOAT NOT NULL,
	CONSTRAINT pk_packings PRIMARY KEY (evaluation_id, kind),
	CONSTRAINT ck_packings_kind CHECK (kind IN ('columns', 'words')),
	CONSTRAINT fk_packings_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE refresh_tokens (
	hash TEXT NOT NULL,
	family_id TEXT NOT NULL,
	used_at FLOAT,
	CONSTRAINT pk_refresh_tokens PRIMARY KEY (hash),
	CONSTRAINT fk_refresh_tokens_family_id FOREIGN KEY(family_id) REFERENCES token_families (id)
);

CREATE INDEX ix_refresh_tokens_family_id ON refresh_tokens (family_id);

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
	project TEXT DEFAULT 'local' NOT NULL,
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
	project TEXT DEFAULT 'local' NOT NULL,
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
	project TEXT DEFAULT 'local' NOT NULL,
	CONSTRAINT pk_scores PRIMARY KEY (response_id, scorer, version),
	CONSTRAINT fk_scores_response_id FOREIGN KEY(response_id) REFERENCES responses (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
