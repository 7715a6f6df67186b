-- +goose Up
-- +goose StatementBegin
CREATE VIEW far AS
SELECT name FROM cities;
-- +goose StatementEnd

-- +goose Down
DROP VIEW far;
