-- Up Migration
-- Operators: accounts of the dashboard that run the installation. Made by the command line only; none of them is a customer.

CREATE TABLE operator (
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- What a line of the audit log is about may be an operator, and whatever later versions add: the log keeps their words. Lines that are
-- there are not read again.
ALTER TABLE audit_log DROP CONSTRAINT audit_log_subject_kind_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_subject_kind_check CHECK (subject_kind ~ '^[a-z][a-z_]*$') NOT VALID;
