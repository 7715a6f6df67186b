-- +goose Up
CREATE TABLE cities (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
INSERT INTO cities VALUES (1, 'Oslo'), (2, 'Bonn');

-- +goose Down
DROP TABLE cities;
