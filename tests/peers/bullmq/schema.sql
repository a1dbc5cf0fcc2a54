-- The rows a publishing service keeps for each post, in a schema of their own that fill.mjs makes anew.
DROP SCHEMA IF EXISTS bullmq CASCADE;
CREATE SCHEMA bullmq;

CREATE TABLE bullmq.posts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL,
    caption text NOT NULL,
    status text NOT NULL DEFAULT 'scheduled'
        CHECK (status IN ('scheduled', 'publishing', 'published', 'failed')),
    due_at timestamptz NOT NULL DEFAULT now(),
    fence integer NOT NULL DEFAULT 0, -- grows with each claim: a late worker can no longer write
    lease_until timestamptz,
    remote_id text,
    published_at timestamptz
);
CREATE INDEX posts_due ON bullmq.posts (due_at) WHERE status IN ('scheduled', 'publishing');

CREATE TABLE bullmq.attempts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id bigint NOT NULL REFERENCES bullmq.posts,
    number integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    outcome text,
    status_code integer,
    UNIQUE (post_id, number)
);

CREATE TABLE bullmq.events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id bigint NOT NULL REFERENCES bullmq.posts,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
