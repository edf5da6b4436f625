-- Up Migration
-- Lines of one kind are read page by page, however many others lie between them. Built in the migration's transaction: who writes to the
-- audit log meanwhile waits for some seconds where it has millions of lines.

CREATE INDEX audit_log_kind_idx ON audit_log (customer_id, split_part(action, '.', 1), id);
