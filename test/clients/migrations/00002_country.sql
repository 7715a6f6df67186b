-- +goose Up
ALTER TABLE cities ADD COLUMN country VARCHAR(20) NOT NULL DEFAULT 'none';

-- +goose Down
ALTER TABLE cities DROP COLUMN country;
